#!/bin/sh
# tests/api/test_moe_forward.sh: the example runs a whole layer as somebody else's program: the library and its
# templates are installed in one place, the program lies in another.    SPDX-License-Identifier: MIT
set -u
build=$(cd "${MOESAIC_BUILD:?}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)

cd "$TMPDIR" || exit 1
mkdir -p prefix/lib prefix/share/moesaic program/bin
cp "$build/libmoesaic.so" prefix/lib/libmoesaic.so.0
cp -r "$root/templates" prefix/share/moesaic/
cp "$build/examples/moe_forward" program/bin/
unset MOESAIC_DATA

LD_LIBRARY_PATH=$TMPDIR/prefix/lib "$build/moesaic" sim --mfma fast -- program/bin/moe_forward 16 > out 2>&1
status=$?
[ $status = 0 ] && tail -n 1 out | grep -qx ok && exit 0
cat out
exit 1
