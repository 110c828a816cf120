#!/bin/sh
# tests/api/test_moe_forward.sh: the example runs a whole layer, here and from other folders.    SPDX-License-Identifier: MIT
set -u
build=$(cd "${MOESAIC_BUILD:?}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)

cd "$TMPDIR" || exit 1
MOESAIC_DATA=$root "$build/moesaic" sim --mfma fast -- "$build/examples/moe_forward" 16 > out 2>&1
status=$?
[ $status = 0 ] && tail -n 1 out | grep -qx ok && exit 0
cat out
exit 1
