/* The JSON of `simulate`: the names are a contract, and so is their order;
 * what is unknown is null. Search, sweeps and validation read results by these
 * names. */
#ifndef SIMULATE_RESULT_JSON_H
#define SIMULATE_RESULT_JSON_H

#include "config/contract.h"
#include "simulate/simulate.h"

#include <jansson.h>

#define RESULT_SCHEMA "urn:smsim:simulate:2"
extern const struct contract_object result_contract;

/* A new tree. */
json_t *result_json(const struct scenario *s, const struct simulate_result *r);

#endif
