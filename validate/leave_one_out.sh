#!/bin/sh
# Refits the constants that several sources share without the sources named, and predicts
# those: the table of docs/validation/leave-one-out.md. Constants are tried in a copy of the data files, in a
# descent over the grid below that starts at its first values.
#   sh validate/leave_one_out.sh build/smsim vtrain_ground_truth_multi [NAME...]
# SOURCES: those refitted to, less the ones named (all that the constants serve). The GPU's
# sustained clock stays. Some hundred evaluations: minutes.
set -eu
smsim=$1
shift
: "${SOURCES:=vtrain_ground_truth_multi vtrain_ground_truth_single \
korthikanti2022_end_to_end korthikanti2022_table4_layer_times megatron_sc21_table1 \
megatron_sc21_table2_ptdp_vs_zero3 bigscience_megatron_deepspeed_tables \
llmfoundry_mpt_training}"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT INT TERM
cp -R models topologies validate "$copy"

# name; files; keys; "=" sets the values, "x" multiplies what the files say; the values
cat >"$copy/grid" <<'END'
stream-2021 megatron-2021,megatron-2022 stream_factor = 0.82 0.86 0.90 0.94 0.98
stream megatron-deepspeed stream_factor = 0.72 0.777 0.83 0.88
host megatron-deepspeed dispatch_forward,dispatch_backward,dispatch_collective,dispatch_collective_wide x 0.85 1 1.15
spread megatron-deepspeed launch_jitter_tensor = 0.48 0.63 0.78
skew megatron-deepspeed collective_skew x 0 1 1.8
END

# set_constant NAME VALUE: writes it into the copy.
set_constant() {
    awk -v n="$1" '$1 == n { print $2, $3, $4 }' "$copy/grid" | tr , ' ' |
        awk '{ for (i = 1; i < NF; i++) print $i, $NF }' >"$copy/words"
    while read -r word how; do
        if [ -f "models/frameworks/$word.json" ]; then
            files="${files:-} $word"
            continue
        fi
        for f in $files; do
            awk -v key="\"$word\":" -v v="$2" -v how="$how" '
                NR == FNR { if ($1 == key) was = $2; next }
                $1 == key {
                    text = was
                    gsub(/[",]/, "", text)
                    unit = text
                    sub(/^[0-9.]+/, "", unit)
                    quote = was ~ /"/ ? "\"" : ""
                    v = how == "x" ? v * (text + 0) : v
                    print "    " key " " quote v unit quote ","
                    next
                }
                { print }' "models/frameworks/$f.json" "$copy/models/frameworks/$f.json" \
                >"$copy/new"
            mv "$copy/new" "$copy/models/frameworks/$f.json"
        done
    done <"$copy/words"
    files=
}

# error_of SOURCE: the mean error of its first quantity.
error_of() {
    SMSIM_DATA=$copy "$smsim" validate "$1" --json "$copy/out" >"$copy/text" 2>&1 || true
    awk '/"mean_abs_error"/ { gsub(/[^0-9.e-]/, "", $2); print $2; exit }' "$copy/out"
}

# mean_error: of what is refitted to.
mean_error() {
    for source in $SOURCES; do
        case " $left_out " in *" $source "*) ;; *) error_of "$source" ;; esac
    done | awk '{ sum += $1 } END { printf "%.6f\n", sum / NR }'
}

left_out=$*
awk '{ print $1, $5 }' "$copy/grid" >"$copy/at"
while read -r name value; do set_constant "$name" "$value"; done <"$copy/at"
best=$(mean_error)
moved=yes
while [ -n "$moved" ]; do
    moved=
    for name in $(awk '{ print $1 }' "$copy/grid"); do
        at=$(awk -v n="$name" '$1 == n { print $2 }' "$copy/at")
        for value in $(awk -v n="$name" '$1 == n { for (i = 5; i <= NF; i++) print $i }' "$copy/grid"); do
            [ "$value" != "$at" ] || continue
            set_constant "$name" "$value"
            now=$(mean_error)
            if awk "BEGIN { exit !($now < $best - 1e-5) }"; then
                best=$now at=$value moved=yes
            fi
        done
        set_constant "$name" "$at"
        awk -v n="$name" -v v="$at" '$1 == n { $2 = v } { print }' "$copy/at" >"$copy/new"
        mv "$copy/new" "$copy/at"
    done
done
echo "left out: $left_out; the others want: $(tr '\n' ' ' <"$copy/at")(mean error $best)"
for source in $left_out; do
    echo "$source: $(error_of "$source")"
done
