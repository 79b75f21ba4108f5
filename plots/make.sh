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
here is simulated. How far simulations are from measurements: `smsim validate`.
END

# show FILE QUESTION COMMAND
show() {
    printf '\n## %s\n\n![%s](%s)\n\n    %s\n' "$2" "$2" "$1" "$3" >>"$index"
}

for sweep in scenarios/sweeps/*.json; do
    name=$(basename "$sweep" .json)
    "$smsim" sweep "$sweep" --out "$work/$name" >"$work/$name.text"
    sed -n "s|^$work/$name/\([^ ]*\.svg\)  \(.*\)|\1 \2|p" "$work/$name.text" |
        while read -r file question; do
            cp "$work/$name/$file" plots/
            show "$file" "$question" "smsim sweep $name --out DIR"
        done
    tail -n +2 "$work/$name.text" | grep '^warning: ' >&2 || true
done

# draw FILE QUESTION ARGUMENT...: a figure of a command with --plot
draw() {
    file=$1
    question=$2
    shift 2
    "$smsim" "$@" --plot "plots/$file" >"$work/text"
    show "$file" "$question" "smsim $* --plot $file"
}

draw topology-p3.16xlarge.svg "How are the GPUs of a p3.16xlarge wired?" \
    topology p3.16xlarge
draw topology-p4d.24xlarge.svg "And those of two p4d.24xlarge, with their network cards?" \
    topology p4d.24xlarge:2

if "$smsim" collective --help | grep -q -- --plot; then
    draw busbw-p3.16xlarge.svg "What bus bandwidth do all-reduces on two p3.16xlarge reach?" \
        collective --cluster p3.16xlarge:2 --op all_reduce --bytes 1K:1G:2
    draw busbw-p4d.24xlarge.svg "And on two p4d.24xlarge?" \
        collective --cluster p4d.24xlarge:2 --op all_reduce --bytes 1K:1G:2
fi

cp "$index" plots/README.md
