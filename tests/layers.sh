#!/bin/sh
# Each layer of src/ includes only itself and those before it. Prints what breaks that.
set -eu
order="base draw config hardware model parallel cost engine memory run step simulate campaign search sweep calibrate validation trace report cmd"
status=0
before=""
for layer in $order; do
    before="$before $layer"
    allowed=$(echo "$before" | sed 's/^ //; s/ /|/g')
    bad=$(grep -nE '^#include "' src/$layer/*.[ch] 2>/dev/null |
        grep -vE "#include \"($allowed)/" || true)
    if [ -n "$bad" ]; then
        echo "layer $layer may include only:$before"
        echo "$bad"
        status=1
    fi
done
if grep -nE '#include <cairo' src/*/*.[ch] | grep -v '^src/draw/'; then
    echo "only draw knows cairo: it belongs there"
    status=1
fi
[ $status = 0 ] && echo "layers: each includes only those before it"
exit $status
