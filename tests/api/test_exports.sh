#!/bin/sh
# tests/api/test_exports.sh: what libmoesaic.so shows and needs.    SPDX-License-Identifier: MIT
set -eu
library=${OUT:-build}/libmoesaic.so

fail() { echo "$library $*" >&2; exit 1; }

foreign=$(nm -D --defined-only "$library" | awk '$3 !~ /^moesaic_/ { print $3 }')
[ -z "$foreign" ] || fail "exports $foreign"

nm -D --defined-only "$library" | grep -q ' moesaic_open$' || fail "does not export moesaic_open"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
case $needed in
*hip* | *hsa* | *comgr*) fail "must not need HIP, but needs: $needed" ;;
esac

unresolved=$(nm -D --undefined-only "$library" | awk '$2 !~ /@/ && $2 ~ /^(db|gen|device|file|hash|json|str|clock)_/ { print $2 }')
[ -z "$unresolved" ] || fail "lacks $unresolved"
