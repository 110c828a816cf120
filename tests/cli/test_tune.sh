#!/bin/sh
# tests/cli/test_tune.sh: `moesaic tune`: results, what is answered from the database, bad input, kill and resume.
#
# Runs on the software device.  MOESAIC_BUILD names the build.    SPDX-License-Identifier: MIT
set -u

build=${MOESAIC_BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MOESAIC_DATA="${MOESAIC_DATA:-.}" MOESAIC_DEVICE=software
failures=0

fail() {
    echo "tests/cli/test_tune.sh: $*"
    failures=$((failures + 1))
}

tune() {
    "$build/moesaic" tune "$@" > "$folder/out" 2> "$folder/err"
}

entry() { # MORE-KEYS
    printf '{"name":"t","moe":[{"dtype":"bf16","hidden":128,"expert_ffn":64,"experts":4,"top_k":1%s}]}\n' "$1"
}

sql() {
    sqlite3 "$folder/t.db" "$1"
}

# --- bad input: status 2, a message that holds the value, nothing written ---

refuse() { # WHAT SAYS ARGUMENT...
    what=$1 says=$2
    shift 2
    tune "$@" --db "$folder/bad.db"
    status=$?
    [ $status -eq 2 ] || fail "$what: want status 2, got $status: $(cat "$folder/err")"
    grep -qF -e "$says" "$folder/err" || fail "$what: want \"$says\" in: $(cat "$folder/err")"
    [ ! -s "$folder/out" ] || fail "$what: prints on stdout: $(cat "$folder/out")"
    [ ! -e "$folder/bad.db" ] || fail "$what: writes a database"
    rm -f "$folder/bad.db"
}

refuse_entry() { # WHAT SAYS MORE-KEYS
    entry "$3" > "$folder/w.json"
    refuse "$1" "$2" "$folder/w.json"
}

refuse "a missing file" none.json none.json
printf '{"name":"t",\n "moe":[' > "$folder/w.json"
refuse "malformed JSON" w.json:2: "$folder/w.json"
refuse_entry "a negative size" -5 ',"tokens":-5'
refuse_entry "an absurd size" 1000000000000000 ',"tokens":1000000000000000'
refuse_entry "a key that is given twice or unknown" hiden ',"tokens":8,"hiden":3'
entry ',"tokens":8' | sed 's/bf16/w4a4/' > "$folder/w.json"
refuse "an unknown dtype" w4a4 "$folder/w.json"
entry ',"tokens":8' | sed 's/"top_k":1/"top_k":9/' > "$folder/w.json"
refuse "top_k above experts" "top_k = 9" "$folder/w.json"
entry ',"tokens":8' > "$folder/w.json"
refuse "an unknown strategy" genetic "$folder/w.json" --strategy genetic
refuse "a budget that is none" soon "$folder/w.json" --budget soon
refuse "a glob without a match" "matches none" "$folder/w.json" --only 'up*'
refuse "nothing to resume" "no database" "$folder/w.json" --resume

# --- a database that must not be written ---

cp /dev/null "$folder/new.db"
sqlite3 "$folder/new.db" 'PRAGMA application_id=1297040723; PRAGMA user_version=9000; CREATE TABLE t(x)'
before=$(sha256sum < "$folder/new.db")
tune "$folder/w.json" --db "$folder/new.db"
[ $? -eq 2 ] || fail "a newer schema: want status 2: $(cat "$folder/err")"
[ "$before" = "$(sha256sum < "$folder/new.db")" ] || fail "a newer schema is written to"

# --- kill and resume ---

entry ',"tokens":40' > "$folder/w.json"
tune "$folder/w.json" --db "$folder/t.db" --only 'gate_up*' --budget 12 &
tries=0
while [ "$(sql "SELECT count(*) FROM trial WHERE ended_at IS NOT NULL" 2> /dev/null || echo 0)" -lt 6 ]; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || break
    sleep 0.1
done
tuner=$(sql "SELECT pid FROM run ORDER BY id DESC LIMIT 1")
kill -9 "$tuner"
wait
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "the database is damaged by kill -9"
finished=$(sql "SELECT count(*) FROM trial WHERE ended_at IS NOT NULL")
[ "$finished" -ge 6 ] || fail "want 6 finished trials before the kill, got $finished"
tune "$folder/w.json" --db "$folder/t.db" --only 'gate_up*' --budget 12 --resume --json ||
    fail "resuming: $(cat "$folder/err")"
# The three finalists are verified at full size by the second run; all others stay as they were.
[ "$(sql "SELECT count(*) FROM trial WHERE run_id = 1")" -ge $((finished - 3)) ] || fail "finished trials are repeated"
[ "$(sql "SELECT count(*) FROM trial WHERE ended_at IS NULL")" = 0 ] || fail "a trial stays in flight"
[ "$(sql "SELECT count(*) FROM trial")" = 12 ] || fail "want 12 trials, got $(sql 'SELECT count(*) FROM trial')"
[ "$(sql "SELECT count(*) FROM winner")" = 1 ] || fail "want a winner"
grep -q '"time_kind":"modelled"' "$folder/out" || fail "the time's kind is missing: $(cat "$folder/out")"

# --- what is known is not run again ---

trials=$(sql "SELECT group_concat(started_at) FROM trial")
sleep 1.1
tune "$folder/w.json" --db "$folder/t.db" --only 'gate_up*' --budget 12 --json || fail "answering: $(cat "$folder/err")"
grep -q '"from_database":true' "$folder/out" || fail "not answered from the database: $(cat "$folder/out")"
[ "$trials" = "$(sql "SELECT group_concat(started_at) FROM trial")" ] || fail "trials are run again"

[ $failures -eq 0 ]
