#!/bin/sh
# Sweeps of the program given as $1 that are killed, resumed, cut into shards and run by
# one or several threads come to the same bytes. With mpirun and a program built by
# `make MPI=1`, over 8 ranks too, and over 4 of which one is lost. A journal is not mixed with results of other files or of
# another program.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
cat >"$dir/sweep.json" <<'END'
{ "base": "bert-large-squad-2xp3.16xlarge-ddp",
  "axes": [ { "path": "/cluster/instance", "values": ["p3.16xlarge", "p4d.24xlarge"] },
            { "path": "/cluster/count", "from": 0, "to": 5, "step": 1 },
            { "path": "/training/micro_batch_size", "from": 1, "to": 64, "factor": 2 },
            { "path": "/training/sequence_length", "from": 32, "to": 512, "step": 32 } ],
  "where": [ "/cluster/count != 4", "step_time_s < 2" ],
  "plots": [ { "file": "a.svg", "kind": "line", "x": "gpus", "y": "samples_per_s",
               "series": "/cluster/instance" } ] }
END
failed=0

# sweep NAME ARGUMENT...: ends with 1, as the points of 0 nodes fail
sweep() {
    name=$1
    shift
    "$smsim" sweep "$dir/sweep.json" --out "$dir/$name" "$@" >"$dir/$name.text" \
        2>"$dir/$name.said"
    status=$?
    [ $status = 1 ] || fail "$name ended with $status"
}

fail() {
    echo "sweep: $1"
    failed=1
}

same() {
    for file in points.csv points.jsonl a.svg; do
        cmp "$dir/whole/$file" "$dir/$1/$file" || fail "$1: $file differs"
    done
}

begin=$(date +%s%N)
sweep whole --jobs 1
took_ms=$((($(date +%s%N) - begin) / 1000000))
lines=$(wc -l <"$dir/whole/points.jsonl")
[ "$lines" -gt 500 ] || fail "only $lines points"
grep -q '"error":"scenario: /cluster/count' "$dir/whole/points.jsonl" ||
    fail "no point failed, though there is no cluster of 0"

# Killed at 20 random moments, of a machine that may be busy. Progress is what a run adds
# to the journal.
kills=0
for moment in $(awk -v t="$took_ms" \
    'BEGIN { srand(); for (i = 0; i < 20; i++) print t / 1000 * (0.05 + 0.25 * rand()) }'); do
    resume=--resume
    [ -f "$dir/killed/journal" ] || resume=
    # shellcheck disable=SC2086 # --resume or nothing
    timeout -s KILL "$moment" "$smsim" sweep "$dir/sweep.json" --out "$dir/killed" \
        $resume >/dev/null 2>&1
    [ $? = 137 ] && kills=$((kills + 1))
done
# on a machine that got busier, none may have come to its first point
grep -q '^{"point"' "$dir/killed/journal" 2>/dev/null || { rm -rf "$dir/killed" && sweep killed; }
printf '{"point":11,"ax' >>"$dir/killed/journal" # as a kill within a write leaves it
sweep killed --resume
same killed
grep -q 'killed/journal: its last record was cut off, and is dropped' "$dir/killed.said" ||
    fail "a torn record was dropped without a word"
doubled=$(grep '^{"point"' "$dir/killed/journal" | cut -d, -f1 | sort | uniq -d | wc -l)
[ "$doubled" = 0 ] || fail "$doubled points were run twice"

sweep threads --jobs 3
same threads
for shard in 3 1 2; do
    sweep shards --shard $shard/3
done
sweep shards --resume
same shards

# With ranks of MPI, of which one is killed: others run its points.
if command -v mpirun >/dev/null && ldd "$smsim" | grep -q libmpi; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --oversubscribe -n 8 "$smsim" sweep "$dir/sweep.json" --out "$dir/ranks" \
        --jobs 1 >/dev/null 2>&1
    [ $? = 1 ] || fail "mpirun failed"
    same ranks
    # shellcheck disable=SC2016 # of the shell that each rank is
    mpirun --enable-recovery --oversubscribe -n 4 sh -c '
        [ "$OMPI_COMM_WORLD_RANK" != 2 ] || exec timeout -s KILL 2 "$@"
        exec "$@"' sh "$smsim" sweep "$dir/sweep.json" --out "$dir/lost" --jobs 1 \
        >/dev/null 2>"$dir/lost.said"
    same lost
    grep -q '1 of 4 ranks ended before their time' "$dir/lost.said" ||
        echo "sweep: the rank that should be killed had ended before"
fi

sed 's/512/480/' "$dir/sweep.json" >"$dir/other.json"
"$smsim" sweep "$dir/other.json" --out "$dir/whole" --resume >/dev/null 2>"$dir/error"
[ $? = 3 ] && grep -q 'is of another sweep' "$dir/error" ||
    fail "a changed sweep was not refused: $(cat "$dir/error")"

# What results rest on. The data are copied, so that they can be changed.
data=$dir/data
mkdir "$data" "$dir/bin"
cp -r models topologies scenarios validate "$data"
cp "$smsim" "$dir/bin/smsim"
cat >"$dir/small.json" <<'END'
{ "base": "bert-large-squad-2xp3.16xlarge-ddp", "outputs": [ "step_time_s" ],
  "axes": [ { "path": "/cluster/instance", "values": ["p3.16xlarge", "p4d.24xlarge"] },
            { "path": "/training/micro_batch_size", "from": 1, "to": 16, "factor": 2 } ] }
END

# small NAME ARGUMENT...: its status and what it says, in files
small() {
    name=$1
    shift
    SMSIM_DATA=$data "$dir/bin/smsim" sweep "$dir/small.json" --out "$dir/$name" "$@" \
        >"$dir/text" 2>"$dir/error"
    echo $? >"$dir/status"
}

# says NAME STATUS TEXT: how the last one ended
says() {
    [ "$(cat "$dir/status")" = "$2" ] || fail "$1: ended with $(cat "$dir/status")"
    { cat "$dir/error" && echo; } | tr -d '\n' | grep -qF -- "$3" || [ -z "$3" ] ||
        fail "$1: \"$3\" is not in: $(cat "$dir/error")"
}

# cut_half NAME: a journal with half its records
cut_half() {
    rm -rf "${dir:?}/$1"
    cp -r "$dir/base" "$dir/$1"
    sed -i '/"point":[5-9],/d' "$dir/$1/journal"
    cp "$dir/$1/journal" "$dir/kept"
}

# unchanged NAME: a refused journal is left as it is
unchanged() {
    cmp "$dir/kept" "$dir/$1/journal" || fail "$1: what was refused was changed"
}

small base
says base 0 ""
cut_half half
small half --resume --jobs 2
says half 0 ""
cmp "$dir/base/points.csv" "$dir/half/points.csv" || fail "half: points.csv differs"

for file in topologies/gpus/V100-SXM2-16GB.json topologies/instances/p3.16xlarge.json \
    topologies/fabrics/nvlink2-cube-mesh.json models/frameworks/pytorch-ddp.json \
    models/bert-large-uncased.json validate/applicability.json; do
    cut_half changed
    cp "$data/$file" "$dir/file"
    echo >>"$data/$file"
    small changed --resume
    says "$file changed" 3 "what its results rest on has changed: $file was "
    unchanged changed
    rm "$data/$file"
    small changed --resume
    old=$(grep -F "\"$file\"" "$dir/kept" | sed 's/.*"hash":"\([0-9a-f]*\)".*/\1/')
    says "$file missing" 3 "$file was $old, is missing"
    unchanged changed
    cp "$dir/file" "$data/$file"
    small changed --resume
    says "$file put back" 0 ""
done

cut_half program
printf x >>"$dir/bin/smsim"
small program --resume
says "another program" 3 "has changed: the program smsim was "
unchanged program
cp "$smsim" "$dir/bin/smsim"

cut_half digit
sed -i '/"point":3,/s/"step_time_s":1/"step_time_s":2/' "$dir/digit/journal"
cp "$dir/digit/journal" "$dir/kept"
small digit --resume
says "a changed digit" 3 "is not what was written: its checksum is wrong"
unchanged digit

# journals of others, and of versions before
cut_half foreign
for text in 'notes of a year' '{"smsim_sweep":1,"hash":"0123456789abcdef","points":10}\n' \
    'a\nb\n' '{"smsim' '{"smsim_sweep":2,"hash":"00'; do
    # shellcheck disable=SC2059 # the text is the format
    printf "$text" >"$dir/foreign/journal"
    cp "$dir/foreign/journal" "$dir/kept"
    small foreign --resume
    case $text in
    '{"smsim') says "a torn header" 0 "its last record was cut off" ;;
    '{"smsim_sweep":1'*) says "an old journal" 3 "was written by another version of smsim" ;;
    '{"smsim_sweep":2'*) says "a torn header of others" 3 "is of another sweep" ;;
    *) says "$text" 3 "is no journal of smsim, and is left as it is" ;;
    esac
    [ "$text" = '{"smsim' ] || unchanged foreign
done

# a file that is missing for a while: its points are run again, in shards, too
mv "$data/topologies/gpus/A100-SXM4-40GB.json" "$dir/gpu"
for arguments in "moment" "moments --shard 1/2" "moments --shard 2/2"; do
    # shellcheck disable=SC2086
    small $arguments
    says "$arguments without a file" 1 ""
done
small moment --resume
says "still without it" 1 ""
[ "$(grep -c '"retry":true' "$dir/moment/points.jsonl")" = 5 ] ||
    fail "5 points should be run again"
mv "$dir/gpu" "$data/topologies/gpus/A100-SXM4-40GB.json"
for name in moment moments; do
    small $name --resume
    says "$name with it" 0 ""
    cmp "$dir/base/points.csv" "$dir/$name/points.csv" || fail "$name: points.csv differs"
done

# shards of two versions are not put together
small versions --shard 1/2
cp "$data/models/bert-large-uncased.json" "$dir/file"
echo >>"$data/models/bert-large-uncased.json"
small versions --shard 2/2
small versions --resume
says "shards of two versions" 3 \
    "results of two versions would be mixed: models/bert-large-uncased.json was "
cp "$dir/file" "$data/models/bert-large-uncased.json"

# an axis without a key in the scenario is refused before anything runs
sed 's|/training/micro_batch_size|/training/micro_batchsize|' "$dir/small.json" >"$dir/typo.json"
"$smsim" sweep "$dir/typo.json" --out "$dir/typo" >/dev/null 2>"$dir/error"
[ $? = 3 ] && [ ! -e "$dir/typo" ] && grep -q 'typo.json:3:[0-9]*: /axes/1/path: unknown key "micro_batchsize"' "$dir/error" ||
    fail "an axis of an unknown key: $(cat "$dir/error")"

# spreadsheets run no cell of the table
cat >"$dir/cells.json" <<'END'
{ "base": "bert-large-squad-2xp3.16xlarge-ddp", "outputs": [ "step_time_s" ],
  "axes": [ { "path": "/comment", "values": ["=HYPERLINK(1)", "@a", "+c,d", "-1", "'=q"] } ] }
END
"$smsim" sweep "$dir/cells.json" --out "$dir/cells" >/dev/null || fail "cells"
cut -d, -f1-2 "$dir/cells/points.csv" | tail -n +2 | tr '\n' ' ' >"$dir/text"
[ "$(cat "$dir/text")" = "0,\"'=HYPERLINK(1)\" 1,\"'@a\" 2,\"'+c 3,-1 4,\"''=q\" " ] ||
    fail "formulas: $(cat "$dir/text")"

# With few descriptors, points fail that cannot read their files, and are run again.
# shellcheck disable=SC2016
SMSIM_DATA=$data sh -c 'ulimit -n 5 && exec "$@"' sh "$dir/bin/smsim" sweep \
    "$dir/small.json" --out "$dir/scarce" --jobs 2 >"$dir/text" 2>"$dir/error"
echo $? >"$dir/status"
says "scarce" 3 "Too many open files"
small scarce --resume
says "scarce" 0 ""
cmp "$dir/base/points.csv" "$dir/scarce/points.csv" || fail "scarce: points.csv differs"

[ $failed = 0 ] && echo "sweep: $lines points, $kills kills: the same bytes"
exit $failed
