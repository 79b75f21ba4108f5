/* The schemas that JSON results keep to, each in schemas/results/NAME.json. A number
 * rises when a member is renamed or removed, or changes its type or meaning, and when a
 * finding's code is renamed; new members and codes leave it (docs/results.md). */
#ifndef CONFIG_CONTRACT_H
#define CONFIG_CONTRACT_H

#define CONTRACT_SIMULATE "urn:smsim:simulate:1"
#define CONTRACT_PLAN "urn:smsim:plan:1"
#define CONTRACT_COLLECTIVE "urn:smsim:collective:1"
#define CONTRACT_VALIDATE "urn:smsim:validate:1"
#define CONTRACT_MEASURED "urn:smsim:measured:1"
#define CONTRACT_SWEEP_POINT "urn:smsim:sweep-point:1"
#define CONTRACT_CHECK "urn:smsim:check:1"
#define CONTRACT_COMPARE "urn:smsim:compare:1"
#define CONTRACT_MODEL_SUMMARY "urn:smsim:model-summary:1"
#define CONTRACT_FAILURE "urn:smsim:failure:1"

#endif
