# shellcheck shell=sh disable=SC2034
# What scripts of this folder begin with: the program under test ($1) as $smsim, the
# repository as working folder and as data, and a folder of their own, $dir, which goes
# when they end. For `.`; it is no test itself.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=$PWD
export SMSIM_DATA
dir=$(mktemp -d)
# shellcheck disable=SC2064 # this folder, whatever $dir is later
trap "rm -rf '$dir'" EXIT

# on_all_processors SCRIPT: runs it in a process for each processor, in place of going on
# (within one of these it does go on); prints what they print, their last lines ("NAME: 3
# passed, 0 failed") as one of their sums.
on_all_processors() {
    [ -z "${SHARD:-}" ] || return 0
    n=$(nproc)
    for i in $(seq "$n"); do
        SHARD=$i SHARDS=$n sh "$1" "$smsim" >"$dir/shard.$i" 2>&1 || touch "$dir/wrong" &
    done
    wait
    for i in $(seq "$n"); do
        sed '$d' "$dir/shard.$i"
        tail -n 1 "$dir/shard.$i" >>"$dir/sums"
    done
    awk '{ a += $2; b += $4 } END { print $1, a, $3, b, $5 }' "$dir/sums"
    [ ! -e "$dir/wrong" ]
    exit
}

# is_mine: whether this process is to do the next of the tests, all of which ask it in turn.
asked=0
is_mine() {
    asked=$((asked + 1))
    [ $((asked % SHARDS + 1)) = "$SHARD" ]
}
