#!/bin/sh
# Draws the gallery with the program given as $1: every figure that the sweeps of
# scenarios/sweeps name, and plots/README.md, which shows each with its question and its
# command. The figures of other commands are listed below.
set -eu
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.."
SMSIM_DATA=$PWD
export SMSIM_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
index=$work/README.md

cat >"$index" <<'END'
# Gallery

Figures that smsim computes; `make plots` draws them again, and writes this page. Everything
here is simulated. How far simulations are from measurements: `smsim validate`. Each figure has its question, what it
shows, the command that draws it, and the file that says of what. A sweep writes its points to `DIR/points.csv`.
END

# show FILE QUESTION COMMAND DATA: with the sentence that plots/answers.txt has of it
show() {
    answer=$(sed -n "s/^$1 | //p" plots/answers.txt)
    [ -n "$answer" ] || { echo "plots/answers.txt: $1 has no answer" >&2 && exit 1; }
    printf '\n## %s\n\n%s\n\n![%s](%s)\n\n    %s\n\nData: [%s](../%s)\n' "$2" "$answer" "$2" "$1" "$3" "$4" "$4" >>"$index"
}

# data ARGUMENT...: the file of the repository that a command is about
data() {
    for word; do
        for file in "scenarios/$word.json" "validate/cases/$word.json" "topologies/instances/${word%%:*}.json"; do
            [ -f "$file" ] && echo "$file" && return
        done
    done
    echo "this command reads no file: $*" >&2
    exit 1
}

for sweep in scenarios/sweeps/*.json; do
    name=$(basename "$sweep" .json)
    "$smsim" sweep "$sweep" --out "$work/$name" >"$work/$name.text"
    # a figure's line, and its question on the indented lines below it
    awk -v dir="$work/$name/" '
        function put() { if (file && question) print file, question; file = question = "" }
        index($0, dir) == 1 { put(); if (/\.svg$/) file = substr($1, length(dir) + 1); next }
        file && sub(/^    /, "") { question = question (question ? " " : "") $0; next }
        END { put() }' "$work/$name.text" |
        while read -r file question; do
            cp "$work/$name/$file" plots/
            show "$file" "$question" "smsim sweep $name --out DIR" "$sweep"
        done
    tail -n +2 "$work/$name.text" | grep '^warning: ' >&2 || true
done

# draw FILE QUESTION ARGUMENT...: a figure of a command with the option $plot. A job that
# does not fit in memory (exit code 1) is drawn too.
plot=--plot
draw() {
    file=$1
    question=$2
    shift 2
    "$smsim" "$@" $plot "plots/$file" >"$work/text" || [ $? = 1 ]
    show "$file" "$question" "smsim $* $plot $file" "$(data "$@")"
}

draw topology-p3.16xlarge.svg "How are the GPUs of a p3.16xlarge wired?" \
    topology p3.16xlarge
draw topology-p4d.24xlarge.svg "And those of two p4d.24xlarge, with their network cards?" \
    topology p4d.24xlarge:2

draw busbw-p3.16xlarge.svg "What bus bandwidth do all-reduces on two p3.16xlarge reach?" \
    collective --cluster p3.16xlarge:2 --op all_reduce --bytes 1K:1G:2
draw busbw-p3dn.24xlarge.svg "And on two p3dn.24xlarge, simulated and measured?" \
    collective --cluster p3dn.24xlarge:2 --op all_reduce --bytes 1K:1G:2
draw busbw-p4d.24xlarge.svg "And on two p4d.24xlarge?" \
    collective --cluster p4d.24xlarge:2 --op all_reduce --bytes 1K:4G:2
draw busbw-p5.48xlarge.svg "And on two p5.48xlarge?" \
    collective --cluster p5.48xlarge:2 --op all_reduce --bytes 1K:16G:2

draw validation-collectives.svg "How far are simulated all-reduces on p3dn from measured ones?" \
    validate nccl_p3dn_efa_2to32nodes_digitized
draw validation-megatron.svg "How far are simulated steps of Megatron's models from measured ones?" \
    validate megatron_sc21_table1

question="Of plans stated to be the best with a probability, how many were?"
"$smsim" validate --brief --plot-choices plots/validation-choices.svg >/dev/null
show validation-choices.svg "$question" "smsim validate --plot-choices validation-choices.svg" validate/cases

draw step-bert-large-p3.16xlarge.svg "What happens in a step of BERT-large on two p3.16xlarge?" \
    simulate bert-large-squad-2xp3.16xlarge-ddp
plot=--plot-schedules
draw schedules.svg "Which schedule leaves the GPUs idle least, and which fit?" \
    simulate gpt-neox-20b-12xp4d.24xlarge --set /model=gpt3-13b \
    --set /training/global_batch_size=384 --set /parallelism/library=megatron
plot=--plot-memory
draw step-memory-bert-large.svg "What fills the memory of a V100 in a step of BERT-large?" \
    simulate bert-large-squad-2xp3.16xlarge-ddp
draw step-memory-gpt3.svg "And that of an A100 in a step of GPT-3's first stage?" \
    simulate gpt3-175b-64xp4d.24xlarge --set /training/global_batch_size=256
plot=--plot-usage
draw usage-bert-large.svg "What waits for what in a step of BERT-large over slow Ethernet?" \
    simulate bert-large-squad-2xp3.16xlarge-ddp
draw usage-gpt3.svg "And in a step of GPT-3 on 512 A100?" \
    simulate gpt3-175b-64xp4d.24xlarge
plot=--plot-job
draw job-bert-large.svg "What of a BERT-large job is training, and what is billed?" \
    simulate bert-large-squad-job-2xp3.16xlarge
plot=--plot-stages
draw stages-memory-gpt3.svg "What fills each of the sixteen stages of GPT-3?" \
    simulate gpt3-175b-64xp4d.24xlarge

for figure in plots/*.svg; do
    grep -qF "($(basename "$figure"))" "$index" && continue
    echo "plots/make.sh: no command draws $figure" >&2
    exit 1
done
cp "$index" plots/README.md
