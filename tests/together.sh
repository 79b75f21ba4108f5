#!/bin/sh
# Runs a command ($1) in the background of another (the further arguments), so that both
# have a processor; prints what the second prints, then what the first printed. Fails where
# one of them does.
set -u
log=$(mktemp)
aside=$1
shift
setsid sh -c "$aside" >"$log" 2>&1 </dev/null &
first=$!
# shellcheck disable=SC2064 # these, whatever they are later
trap "kill -- -$first 2>/dev/null; rm -f '$log'" EXIT
trap 'exit 130' INT TERM
"$@" || exit
wait "$first"
rc=$?
cat "$log"
exit $rc
