#!/bin/sh
# What `make demo` shows with the program given as $1: one job, simulated.
set -u
smsim=${1:-build/smsim}
cd "$(dirname "$0")/.." || exit 1
scenario=scenarios/bert-large-squad-2xp3.16xlarge.json
echo "\$ $smsim simulate $scenario"
"$smsim" simulate "$scenario"
status=$?
[ $status = 0 ] || exit $status
cat <<EOF

That is one training step of BERT-large on SQuAD, on two p3.16xlarge. Try next:
  $smsim simulate $scenario --set /cluster/instance=ml.p4d.24xlarge
  $smsim validate nvidia_bert_large_training
  $smsim --help
EOF
