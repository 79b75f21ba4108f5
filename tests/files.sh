#!/bin/sh
# What the program given as $1 does with files that are no files, outputs that are
# inputs, signals, too little memory and data folders of others.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
data=$SMSIM_DATA
OMP_NUM_THREADS=2
export OMP_NUM_THREADS
cd "$dir" || exit 1
passed=0
failed=0

# check NAME STATUS WANTED TEXT: how it ended and what it said
check() {
    if [ "$2" = "$3" ] && { cat said && echo; } | tr '\n' ' ' | grep -qF -- "$4"; then
        passed=$((passed + 1))
    else
        echo "files: $1: ended with $2 where $3 should be, and \"$4\" be said:"
        sed 's/^/    /' said | head -n 5
        failed=$((failed + 1))
    fi
}

# try WANTED TEXT ARGUMENT...
try() {
    wanted=$1
    text=$2
    shift 2
    timeout 60 "$smsim" "$@" >said 2>&1 </dev/null
    check "$*" $? "$wanted" "$text"
}

cp "$data/scenarios/bert-large-squad-2xp3.16xlarge.json" s.json
cp "$data/models/gpt2.json" model.json
cp "$data/topologies/instances/p3.16xlarge.json" instance.json
mkfifo pipe.json
ln -s loop.json loop.json
mkdir directory.json

# neither waits, nor is called missing
for command in simulate "check" "plan" "ranks" "partition" "sweep --out $dir/o" "topology" \
    "validate --measured" "calibrate --out $dir/c"; do
    # shellcheck disable=SC2086
    {
        try 3 "pipe.json: is a pipe" $command ./pipe.json
        try 3 "loop.json: cannot be read: Too many levels of symbolic links" $command ./loop.json
        try 3 "s.json/x.json: cannot be read: Not a directory" $command ./s.json/x.json
        try 3 "directory.json: is a directory" $command ./directory.json
    }
done
for key in /model /cluster/instance; do
    try 3 "pipe.json: is a pipe" simulate ./s.json --set "$key=\"./pipe.json\""
    try 3 "loop.json: cannot be read: Too many levels" simulate ./s.json \
        --set "$key=\"./loop.json\""
    try 3 "is a device" simulate ./s.json --set "$key=\"/dev/zero\""
done
cat s.json | "$smsim" simulate /dev/stdin >said 2>&1
check "a pipe that was given" $? 0 "step time"
"$smsim" simulate /dev/fd/9 >said 2>&1 9<s.json
check "a descriptor that was given" $? 0 "step time"
if [ "$(id -u)" != 0 ]; then
    cp s.json secret.json
    chmod 000 secret.json
    try 3 "secret.json: cannot be read: Permission denied" simulate ./secret.json
fi
SMSIM_DATA=$dir try 3 "models: cannot be read: No such file or directory" list models
SMSIM_DATA=$dir try 3 "validate/cases: cannot be read: No such file" validate

# an output over an input, by any name
ln s.json hard.json
ln -s s.json soft.json
cp s.json kept.json
for out in s.json ./s.json hard.json soft.json "$dir/s.json"; do
    try 3 "is the file of ./s.json, too" simulate ./s.json --json "$out"
done
try 3 "is the file of --html, too" simulate ./s.json --json x --html x
try 3 "model.json: is an input of this command, too" simulate ./s.json \
    --set '/model="./model.json"' --json model.json
try 3 "is the file of --instance, too" plan --model gpt2 --instance \
    ./instance.json --global-batch 64 --sequence-length 1024 --count 1 --json instance.json
cmp s.json kept.json || failed=$((failed + 1))
cmp model.json "$data/models/gpt2.json" || failed=$((failed + 1))
cmp instance.json "$data/topologies/instances/p3.16xlarge.json" || failed=$((failed + 1))

# A signal leaves nothing. The shell's own processes in the background ignore INT, which
# a child inherits: timeout sends it.
printf '#!/bin/sh\necho $$ >%s/child\nexec sleep 30\n' "$dir" >measure
chmod +x measure
for signal in INT TERM HUP; do
    SMSIM_MEASURE=$dir/measure timeout -s $signal 0.5 "$smsim" validate --device \
        --out measured.json >said 2>&1
    check "SIG$signal" $? 124 ""
    left=$(ls -d measured.json* 2>/dev/null)
    [ -z "$left" ] || { echo "files: SIG$signal left $left"; failed=$((failed + 1)); }
    sleep 0.1
    if [ -d "/proc/$(cat child)" ] && ! grep -q ') Z ' "/proc/$(cat child)/stat"; then
        echo "files: SIG$signal left the program that was run"
        failed=$((failed + 1))
    fi
done
# small enough for Perfetto's page: GPT-3 on 512 GPUs
"$smsim" simulate gpt3-175b-64xp4d.24xlarge --trace gpt3.json.gz >said 2>&1
gzip -t gpt3.json.gz && [ "$(wc -c <gpt3.json.gz)" -lt 5000000 ]
check "a trace below 5 MB" $? 0 "step time"

for out in "--trace out.json" "--chakra out.dir"; do
    for try in 1 2 3 4 5; do # on a busy machine the program may end first
        rm -rf out.*
        # shellcheck disable=SC2086
        "$smsim" simulate gpt-neox-20b-12xp4d.24xlarge --unfold $out >said 2>&1 &
        until ls -d out.*.tmp >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do
            sleep 0.01
        done
        kill -TERM $! 2>/dev/null
        wait $! 2>/dev/null
        ended=$?
        [ $ended != 0 ] || [ $try = 5 ] && break
    done
    check "SIGTERM within $out" $ended 143 ""
    left=$(ls -d out.* 2>/dev/null)
    [ -z "$left" ] || { echo "files: SIGTERM left $left"; failed=$((failed + 1)); }
    rm -rf out.*
done

# a shortage of memory
{
    printf '{ "comment": "'
    head -c 40000000 /dev/zero | tr '\0' x
    printf '" }'
} >large.json
(
    ulimit -v 60000
    OMP_NUM_THREADS=1 "$smsim" simulate ./large.json --json result.json >said 2>&1
    echo $? >status
)
check "out of memory" "$(cat status)" 4 "smsim: out of memory"
(
    ulimit -v 60000
    OMP_NUM_THREADS=16 "$smsim" simulate gpt3-175b-64xp4d.24xlarge \
        --set '/uncertainty={"compute_jitter":{"cv":0.03},"samples":8}' >said 2>&1
    echo $? >status
)
check "draws with little memory" "$(cat status)" 0 "step time"

# a limit on the size of files is an error of writing
(
    ulimit -f 1
    "$smsim" simulate ./s.json --json result.json >said 2>&1
    echo $? >status
)
check "a limit on files" "$(cat status)" 3 "result.json: cannot be written: File too large"
[ -z "$(ls result.json* 2>/dev/null)" ] || failed=$((failed + 1))

# Ctrl-C ends a search of plans with the best so far; to it alone: a second would kill it
timeout --foreground --preserve-status -s INT 2 "$smsim" plan --model gpt2-xl --count 1..32 \
    --instance p4d.24xlarge --global-batch 64 --sequence-length 1024 --exhaustive \
    --top 1 >said 2>&1
check "a stopped plan" $? 130 "partial: stopped before the end"

# a data folder is data: its programs are not run
mkdir -p folder/build
cp -r "$data/models" "$data/topologies" folder/
printf '#!/bin/sh\ntouch %s/ran\n' "$dir" >folder/build/smsim-measure
chmod +x folder/build/smsim-measure
mkdir -p alone # a built smsim-measure may be next to the real one
cp "$smsim" alone/smsim
PATH=/nowhere SMSIM_DATA=$dir/folder alone/smsim validate --device --model gpt2 >said 2>&1
check "a program in a data folder" "$?$([ -e ran ] && echo ", it ran")" 3 "is not built"

# Names with control characters are refused, shown with "?" in their places.
esc=$(printf '\033[31m')
bell=$(printf '\302\233')
cp model.json "$(printf 'g\033[31m.json')"
plainly() {
    if ! LC_ALL=C grep -qE "$(printf '[\001-\010\013-\037\177]|\302[\200-\237]')" said; then
        passed=$((passed + 1))
    else
        echo "files: $1: control characters were printed"
        failed=$((failed + 1))
    fi
}
for word in "a$esc" "./a$bell.json" "--$esc" "--set=/name=$esc"; do
    for command in simulate plan topology list sweep check collective validate; do
        try 2 "has a control character" $command "$word"
        plainly "$command with a word"
    done
done
# field TEXT MEMBER [KEY]: a scenario with the member, in place of that of the key
field() {
    sed "/\"${3:-no such}\":/d; s|^{|{ $2|" bare.json >named.json
    for command in simulate check plan ranks; do
        try 3 "$1" $command ./named.json
        plainly "$2"
    done
}
for evil in 'x\\u001b[31m' 'x\\nforged: line' 'x\\u009b31m'; do
    sed '/"name":/d' s.json >unnamed.json && mv unnamed.json bare.json
    field "has a control character" "\"name\": \"$evil\","
    field "unknown key" "\"$evil\": 1,"
    field "has a control character" "\"model\": \"$evil\"," model
    json=$(echo "$evil" | sed 's/\\\\/\\/g')
    printf '%s' '{"base": "./s.json", "axes": [{"path": "/training/micro_batch_size",
        "values": [1], "labels": ["'"$json"'"]}]}' >labels.json
    try 3 "has a control character" sweep ./labels.json --out labels
    plainly "a label"
done
cat >launch.py <<'END'
from sagemaker.pytorch import PyTorch
e = PyTorch(entry_point="r\x1b[31m.py", instance_type="ml.p4d.24xlarge", instance_count=2,
    framework_version="1.12.1", hyperparameters={"model_name_or_path": "gpt2",
    "per_device_train_batch_size": 4, "max_seq_length": 512, "n\x1b[31m": "a\x1b[31mb\nc"},
    distribution={"mpi": {"enabled": True, "processes_per_host": 8,
        "custom_mpi_options": """-x NCCL_DEBUG=WARN
            -x FI_PROVIDER=efa"""}})
END
try 0 "step time" simulate ./launch.py --set /training/task=causal-lm # its program is not known
plainly "a launch script"

# without the table of measured rows, no result says that it knows its range
mkdir folder/validate
for table in missing torn empty foreign; do
    case $table in
    torn) head -c 20000 "$data/validate/applicability.json" >folder/validate/applicability.json ;;
    empty) : >folder/validate/applicability.json ;;
    foreign) echo '{"applicability": 1}' >folder/validate/applicability.json ;;
    esac
    for command in "simulate ./s.json --json -" "plan --model gpt2 --instance p4d.24xlarge \
        --count 1 --global-batch 64 --sequence-length 1024 --fix library=ddp" \
        "sweep small-sweep.json --out $dir/$table"; do
        echo '{"base": "./s.json", "axes": []}' >small-sweep.json
        # shellcheck disable=SC2086
        SMSIM_DATA=$dir/folder try 0 "no job counts as measured" $command
    done
    grep -q 'applicability.json' said || failed=$((failed + 1))
done

# a guarded log that is not there yet, is cut, and moved away as it grows is waited for; the
# steps of the new one count, alone
grown=$data/tests/walk/logs/llama2-70b.log
timeout 60 "$smsim" doctor llama2-70b-smp2-16xp5.48xlarge --guard 0.1 --log late.log >said 2>&1 &
for pass in 1 2 3 4 5 6 7 8 9 10; do
    grep -q 'late.log: is not there yet; waiting for it' said && break
    sleep 0.2
done
head -n 21 "$grown" >late.log # ten of its steps, nine of them steady
sleep 0.2
: >late.log
sleep 0.2
mv late.log old.log
sleep 0.2
head -n 60 "$grown" >late.new
mv late.new late.log
wait $!
check "a log that grows, pass $pass" $? 1 "waiting for it guard: 29 steady steps"

# a log of another job's GPU
try 0 "--log: GPU: the log says NVIDIA H100 80GB HBM3, and the job has A100-SXM4-80GB" \
    compare llama2-70b-smp2-16xp5.48xlarge --set /cluster/instance=p4de.24xlarge \
    --to /training/micro_batch_size=1 --log "$data/tests/walk/logs/trace.json"

# a file that cannot be read ends a search: it takes no library out of it
cp "$data/validate/applicability.json" folder/validate/applicability.json
for profile in fsdp-eager pytorch-ddp deepspeed-zero3; do
    mv "folder/models/frameworks/$profile.json" kept
    mkfifo "folder/models/frameworks/$profile.json"
    SMSIM_DATA=$dir/folder try 3 "$profile.json: is a pipe" plan --model bert-large-uncased --instance p3.8xlarge \
        --count 1 --global-batch 16 --sequence-length 128
    mv kept "folder/models/frameworks/$profile.json"
done

echo "files: $passed passed, $failed failed"
[ "$failed" = 0 ]
