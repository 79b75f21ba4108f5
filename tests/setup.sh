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
