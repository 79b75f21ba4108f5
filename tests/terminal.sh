#!/bin/sh
# What people see on a terminal: no line beyond its columns, colour only where it is
# wanted, and the same text without colour as into a file.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
failed=0
esc=$(printf '\033')

# on COLUMNS ENVIRONMENT COMMAND: its standard output, on a terminal of so many columns
on() {
    TERM=xterm script -qec "stty cols $1; $2 $smsim $3 2>$dir/err" /dev/null </dev/null |
        tr -d '\r'
}

complain() {
    failed=$((failed + 1))
    echo "terminal: $1"
}

while read -r command; do
    for columns in 80 100; do
        on $columns "" "$command" | sed "s/$esc\[[0-9;]*m//g" >"$dir/text"
        test -s "$dir/text" || complain "smsim $command prints nothing"
        awk -v most=$columns 'length($0) > most { exit 1 }' "$dir/text" ||
            complain "smsim $command: a line is longer than $columns columns"
    done
done <<END
simulate bert-large-squad-2xp3.16xlarge
simulate llama2-70b-smp2-16xp5.48xlarge --set /training/micro_batch_size=16
plan bert-large-squad-2xp3.16xlarge --top 3
model Qwen/Qwen3-Next-80B-A3B-Instruct
compare bert-large-squad-2xp3.16xlarge bert-large-squad-2xp3dn.24xlarge
collective --cluster p4d.24xlarge:4 --op all_reduce
help /training/precision
simulate gpt3-175b-64xp4d.24xlarge
topology p5.48xlarge:2
ranks gpt3-175b-64xp4d.24xlarge
partition gpt3-175b-64xp4d.24xlarge
list frameworks
list instances
validate vtrain_ground_truth_single vtrain_ground_truth_multi --brief
validate nvidia_bert_large_training --rows
validate vtrain_ground_truth_multi
validate megatron_sc21_table1 simumax_b200_megatron
doctor llama2-70b-smp2-16xp5.48xlarge --log tests/walk/logs/smi-hot.csv --log tests/walk/logs/trace.json
schema list
help dialects
sweep bert-large-scaling --out $dir/sweep --resume
END
for command in '' $(sed -n 's/^ *{ "\([a-z]*\)", cmd_.*/\1/p' src/main.c); do
    on 80 "" "$command --help" | awk 'length($0) > 80 { exit 1 }' ||
        complain "smsim $command --help: a line is longer than 80 columns"
done

on 80 "" "simulate bert-large-squad-2xp3.16xlarge" | grep -q "$esc" ||
    complain "a terminal gets no colour"
on 80 "NO_COLOR=1" "simulate bert-large-squad-2xp3.16xlarge" | grep "$esc" &&
    complain "NO_COLOR is not heeded"
on 88 "NO_COLOR=1" "simulate bert-large-squad-2xp3.16xlarge" >"$dir/text"
$smsim simulate bert-large-squad-2xp3.16xlarge >"$dir/file" 2>"$dir/err"
cmp -s "$dir/text" "$dir/file" || complain "a terminal of 88 columns gets another text"
while read -r command; do # what they complain of
    on 80 "" "$command 2>&1 >$dir/text; :" | awk 'length($0) > 80 { wide = 1 } END { exit wide || !NR }' ||
        complain "smsim $command: complaints are longer than 80 columns, or missing"
done <<END
compare bert-large-squad-2xp3.16xlarge bert-large-squad-2xp3.16xlarge-ddp
check tests/bad/training-not-an-object/in.json
collective --cluster p4d.24xlarge:4 --op all
END
$smsim list frameworks | awk 'NF < 2 || /^ / { exit 1 }' || complain "list gives a file more than a line each"
[ $failed = 0 ] && echo "terminal: 80 and 100 columns, colour and its absence"
exit $failed
