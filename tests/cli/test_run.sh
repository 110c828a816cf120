#!/bin/sh
# tests/cli/test_run.sh: `moesaic run` launches and verifies what `moesaic tune` found.    SPDX-License-Identifier: MIT
set -u
moesaic=${MOESAIC_BUILD:?}/moesaic
MOESAIC_DATA=$(cd "$(dirname "$0")/../.." && pwd)
export MOESAIC_DATA
work=$TMPDIR/work.json db=$TMPDIR/run.db
failed=0

# workload TOKENS
workload() {
    cat > "$work" <<JSON
{"name": "small", "moe": [{"dtype": "bf16", "hidden": 72, "expert_ffn": 40, "experts": 3, "top_k": 2,
  "passes": ["gate_up", "down"], "tokens": [$1], "routing": ["zipf:1"]}]}
JSON
}

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] && return
    echo "$1: got '$2', want '$3'"
    failed=1
}

count() { grep -o "$1" "$TMPDIR/out" | wc -l; }

# run STATUS: the JSON goes to $TMPDIR/out
run() {
    "$moesaic" run "$work" --db "$db" --json > "$TMPDIR/out" 2> "$TMPDIR/messages"
    same "status ($(cat "$TMPDIR/messages"))" $? "$1"
}

workload 24
"$moesaic" run "$work" --db "$db" > /dev/null 2> "$TMPDIR/messages"
same 'status without a database' $? 2
"$moesaic" tune "$work" --db "$db" --budget 2 > /dev/null 2> "$TMPDIR/messages" || cat "$TMPDIR/messages"

run 0
same 'verified' "$(count '"verified":true')" 2
same 'modelled' "$(count '"time_kind":"modelled"')" 2
same 'from stored code' "$(count '"compiled":false')" 2

"$moesaic" db gc --code-objects --db "$db" > /dev/null
run 0
same 'verified after gc' "$(count '"verified":true')" 2
same 'compiled again' "$(count '"compiled":true')" 2

# A problem without a winner is named, and the status says so.
workload 25
run 1
same 'no results' "$(count '"pass"')" 0
grep -q 'tokens=25.*no winner' "$TMPDIR/messages" || { cat "$TMPDIR/messages"; failed=1; }
exit $failed
