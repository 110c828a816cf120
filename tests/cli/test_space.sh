#!/bin/sh
# tests/cli/test_space.sh: `moesaic space` and `moesaic emit`: what they print, and what they refuse with status 2.
# SPDX-License-Identifier: MIT
set -u
moesaic=${MOESAIC_BUILD:?}/moesaic
export MOESAIC_DATA=.
layer=hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=4096
failed=0

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] && return
    echo "$1: got '$2', want '$3'"
    failed=1
}

# says WHAT TEXT PATTERN
says() {
    case $2 in *"$3"*) return ;; esac
    echo "$1: '$3' is not in '$2'"
    failed=1
}

# refused PATTERN ARGUMENT...: status 2, nothing on stdout, the pattern on stderr
refused() {
    pattern=$1
    shift
    out=$("$moesaic" "$@" 2> "$TMPDIR/err")
    same "status of moesaic $*" $? 2
    same "output of moesaic $*" "$out" ''
    says "moesaic $*" "$(cat "$TMPDIR/err")" "$pattern"
}

# field JSON-TEXT EXPRESSION-OVER-d
field() { printf '%s' "$1" | python3 -c "import json, sys; d = json.load(sys.stdin); print($2)"; }

count=$("$moesaic" space moe_gemm --problem $layer --count --json)
same 'the sum of a count' "$(field "$count" 'd["legal"] + sum(d["excluded"].values()) == d["total"]')" True
same 'a thousand legal' "$(field "$count" 'd["legal"] >= 1000')" True
same 'count is the default' "$("$moesaic" space moe_gemm --problem $layer --json)" "$count"
same 'a problem as JSON' "$count" "$("$moesaic" space moe_gemm --json \
    --problem '{"hidden":2048,"expert_ffn":2048,"experts":16,"top_k":1,"tokens":4096,"pass":"gate_up"}')"
says 'count as text' "$("$moesaic" space moe_gemm --problem $layer --count)" 'share its LDS'

why=$("$moesaic" space moe_gemm --problem $layer --why split_k=2 --json)
same 'why' "$(field "$why" 'd["legal"], [r["name"] for r in d["excluded_by"]]')" "False ['pass']"
says 'why as text' "$("$moesaic" space moe_gemm --problem $layer --why split_k=2)" 'K is not split'
says 'why of a legal one' "$("$moesaic" space moe_gemm --problem $layer --why tile_m=128)" 'legal: tile_m=128'

scale=tests/gen/families/scale
list=$("$moesaic" space $scale --problem rows=10,cols=512 --list --json)
same 'list' "$(field "$list" 'len(d["configs"]) == d["legal"] > 0')" True
same 'list as text' "$("$moesaic" space $scale --problem rows=10,cols=512 --list | tail -n +2 | wc -l)" \
    "$(field "$list" 'd["legal"]')"

refused 'moe_gemm' space nothing
refused 'add hidden=VALUE' space moe_gemm
refused 'w4a4' space moe_gemm --problem $layer,dtype=w4a4
refused 'lower top_k' space moe_gemm --problem hidden=64,expert_ffn=64,experts=2,top_k=3,tokens=1
refused 'tokens = -1' space moe_gemm --problem hidden=64,expert_ffn=64,experts=2,top_k=1,tokens=-1
refused 'not of the form' space moe_gemm --problem hidden
refused 'not valid JSON' space moe_gemm --problem '{"hidden":'
refused 'zipf' space moe_gemm --problem $layer,routing=zipf
refused 'tile_m has no value 7' space moe_gemm --problem $layer --why tile_m=7
refused 'exclude each other' space moe_gemm --problem $layer --count --list

"$moesaic" emit moe_gemm --problem $layer -o "$TMPDIR/a.hip" || failed=1
"$moesaic" emit moe_gemm --problem $layer > "$TMPDIR/b.hip" || failed=1
cmp "$TMPDIR/a.hip" "$TMPDIR/b.hip" || failed=1
says 'an emitted file' "$(cat "$TMPDIR/a.hip")" 'int pass = 0;'
"$moesaic" emit moe_gemm --problem $layer,pass=down --config combine=1,split_k=4 -o "$TMPDIR/a.hip" || failed=1
says 'a stated configuration' "$(cat "$TMPDIR/a.hip")" 'int split_k = 4;'
same 'no include is left' "$(grep -c '#include "' "$TMPDIR/a.hip")" 0

refused 'excluded by "pass"' emit moe_gemm --problem $layer --config split_k=4
refused 'moesaic tune' emit moe_gemm --problem $layer --winner --db "$TMPDIR/none.db"
refused 'exclude each other' emit moe_gemm --problem $layer --winner --config split_k=1
refused 'cannot write' emit moe_gemm --problem $layer -o "$TMPDIR/no/folder/a.hip"
exit $failed
