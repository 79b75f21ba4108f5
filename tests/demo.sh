#!/bin/sh
# What `make demo` shows with the program given as $1: one job, simulated; one
# planned.
set -u
smsim=${1:-build/smsim}
cd "$(dirname "$0")/.." || exit 1
scenario=scenarios/bert-large-squad-2xp3.16xlarge.json
echo "\$ $smsim simulate $scenario"
"$smsim" simulate "$scenario"
status=$?
[ $status = 0 ] || exit $status
set -- plan --model gpt3-175b --instance p4d.24xlarge --count 64 --global-batch 1536 \
    --sequence-length 2048
printf '\n$ %s %s\n' "$smsim" "$*"
"$smsim" "$@"
status=$?
[ $status = 0 ] || exit $status
cat <<EOF

Above: one training step of BERT-large on SQuAD, on two p3.16xlarge, and how GPT-3 175B
would best be trained on 64 p4d.24xlarge. Figures are in plots/README.md. Try next:
  $smsim simulate $scenario --set /cluster/instance=ml.p4d.24xlarge
  $smsim validate nvidia_bert_large_training
  $smsim --help
EOF
