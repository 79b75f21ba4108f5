#!/bin/sh
# What `plan` leaves out does not matter: the plans that it lists are those of
# --exhaustive, which simulates all, for jobs of several libraries, and each one's chance
# of being the best is that of --exhaustive but for the chance that one left out is. Of
# spaces of up to 512 points bounds say that those left out are no better, and nothing more
# is stated. Of larger ones scores say how near the nearest comes, for as many as were left
# out.
#   sh tests/exhaustive.sh build/smsim
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
failed=0
bounded=0
scored=0
jobs=0

complain() {
    failed=$((failed + 1))
    echo "exhaustive: $1"
}

# listed FILE: the ranked plans, without what is said of all that were simulated
listed() {
    sed -n '/^   #  /,/ plans; USD/{/ plans; USD/d;p;}' "$1"
}

# without_chances FILE: the plans that `listed` wrote there, without the chance that each
# is the best, the tenth word of its line
without_chances() {
    sed 's/^\( *[1-9].*[-0-9]\)  *<*[0-9]* %  *\([-0-9.]* %  *<*[0-9]* %\)$/\1 \2/' "$1"
}

# apart FEW ALL: by how many points of a hundred the chances differ at most
apart() {
    chances='s/^ *[1-9].* <*\([0-9]*\) %  *[-0-9.]* %  *<*[0-9]* %$/\1/p'
    sed -n "$chances" "$1" >"$dir/few_chances"
    sed -n "$chances" "$2" >"$dir/all_chances"
    paste "$dir/few_chances" "$dir/all_chances" |
        awk '{ d = $1 > $2 ? $1 - $2 : $2 - $1; if (d > most) most = d } END { print NR ? most + 0 : 100 }'
}

# left_best FILE: the chance that one of those left out is the best, of a hundred, as it
# is stated
left_best() {
    tr '\n' ' ' <"$1" | sed -n 's/.*the chance that it is the *best is \([0-9]*\) %.*/\1/p'
}

# simulated FILE: how many were
simulated() {
    sed -n 's/^\([0-9]*\) simulated: .*/\1/p' "$1"
}

while read -r job; do
    jobs=$((jobs + 1))
    eval "\"\$smsim\" plan $job --top 5" >"$dir/usual" 2>"$dir/err" </dev/null
    eval "\"\$smsim\" plan $job --top 5 --exhaustive" >"$dir/all" 2>>"$dir/err" </dev/null
    few=$(simulated "$dir/usual")
    all=$(simulated "$dir/all")
    listed "$dir/usual" >"$dir/few_listed"
    listed "$dir/all" >"$dir/all_listed"
    [ -s "$dir/few_listed" ] || complain "$job: nothing is listed"
    without_chances "$dir/few_listed" >"$dir/few_plans"
    without_chances "$dir/all_listed" >"$dir/all_plans"
    cmp -s "$dir/few_plans" "$dir/all_plans" || {
        complain "$job: --exhaustive lists other plans"
        diff "$dir/few_plans" "$dir/all_plans" | sed 's/^/    /'
    }
    moved=$(apart "$dir/few_listed" "$dir/all_listed")
    left=$(left_best "$dir/usual")
    [ "$moved" -le "${left:-0}" ] ||
        complain "$job: chances move by $moved %, of which ${left:-0} are stated"
    grep -q "not simulated" "$dir/all" && complain "$job: --exhaustive left some out"
    if [ "${few:-0}" -lt "${all:-0}" ]; then
        held=$(sed -n 's/.* \([0-9]*\) that memory may hold$/\1/p' "$dir/usual")
        stated=$(sed -n 's/^\([0-9]*\) not simulated: by scores the nearest .*/\1/p' "$dir/usual")
        if [ "$held" -le 512 ]; then
            bounded=$((bounded + 1))
            [ -z "$stated" ] || complain "$job: bounds leave $stated plans open"
        else
            scored=$((scored + 1))
            [ "$stated" = $((all - few)) ] ||
                complain "$job: of $((all - few)) plans left out ${stated:-0} are stated"
        fi
    fi
done <<END
--model bert-large-uncased --instance p3.16xlarge --count 2 --global-batch 64 --sequence-length 384 --for fsdp
--model gpt2-xl --instance p4d.24xlarge --count 2 --global-batch 64 --sequence-length 1024 --for deepspeed
--model gpt2-xl --instance p4d.24xlarge --count 1 --global-batch 32 --sequence-length 1024 --for megatron
--model gpt2-medium --instance p3.16xlarge --count 2 --global-batch 32 --sequence-length 512 --for smp-v1
--model bert-large-uncased --instance p3.16xlarge --count 1..4 --global-batch 128 --sequence-length 128 --for ddp
--model mixtral-8x7b --instance p5.48xlarge --count 8 --global-batch 256 --sequence-length 4096 --for megatron --fix sharding=optimizer --fix activation_checkpointing=none
END

[ "$bounded" -gt 0 ] || complain "no job leaves plans out by their bounds"
[ "$scored" -gt 0 ] || complain "no job leaves plans out by their scores"
[ "$failed" = 0 ] || exit 1
echo "exhaustive: $jobs jobs list what simulating everything lists;" \
    "$bounded leave plans out by bounds, $scored by scores"
