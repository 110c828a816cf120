#!/bin/sh
# tests/cli/test_db.sh: `moesaic db` on a file that another program filled, and `moesaic emit --winner` from it.
# SPDX-License-Identifier: MIT
set -u
moesaic=${MOESAIC_BUILD:?}/moesaic
export MOESAIC_DATA=.
layer=hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=4096
db=$TMPDIR/a.db
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

# A file by the documented schema, without our library.
python3 - "$db" <<'PYTHON'
import json, sqlite3, sys
problem = {"dtype": "bf16", "aligned": 1, "hidden": 2048, "expert_ffn": 2048, "experts": 16, "top_k": 1, "tokens": 4096}
config = {**json.load(open("templates/moe_gemm/space.json"))["default"], "group_m": 1, "xcd_order": 0}
key = lambda d: json.dumps(d, sort_keys=True, separators=(",", ":"))
con = sqlite3.connect(sys.argv[1])
con.executescript(open("db/schema/001-first.sql").read() + "PRAGMA application_id = 0x4d4f4553; PRAGMA user_version = 1000;")
con.execute("INSERT INTO device VALUES (1,'software','gfx942',29857,304,'spx',206158430208,'','6.4','hiprtc','0')")
con.execute("INSERT INTO problem VALUES (1,'moe_gemm','gate_up',?)", [key(problem)])
con.execute("INSERT INTO template VALUES (1,'moe_gemm','abc')")
con.execute("INSERT INTO config VALUES (1,1,?)", [key(config)])
con.execute("INSERT INTO code_object VALUES (1,'abc',x'00','gfx942','hiprtc','1',1,1,1,1,1)")
con.execute("INSERT INTO run VALUES (1,'tune','{}','done','h','b',1,1,'2026-12-01T00:00:00Z','2026-12-01T00:00:01Z')")
con.execute("INSERT INTO trial VALUES (1,1,1,1,1,1,'ok',12.5,'modelled','0',NULL,1e-3,1e-2,'','{}',1,1,0,'2026-12-01T00:00:00Z',"
            "'2026-12-01T00:00:01Z')")
con.execute("INSERT INTO winner VALUES (1,1,1)")
con.commit()
PYTHON

ls=$("$moesaic" db ls --db "$db" --json)
same 'ls' "$(field "$ls" '[(w["trial"], w["time_us"], w["time_kind"], w["config"]["group_m"]) for w in d["winners"]]')" \
    "[(1, 12.5, 'modelled', 1)]"
says 'ls as text' "$("$moesaic" db ls --db "$db")" modelled
show=$(MOESAIC_DB=$db "$moesaic" db show 1 --json)
same 'show' "$(field "$show" 'd["trial"]["status"], d["problem"]["key"]["tokens"], d["code_object"]["blob"]')" 'ok 4096 1'
says 'show as text' "$("$moesaic" db show 1 --db "$db")" config.key.tile_m
stat=$("$moesaic" db stat --db "$db" --json)
same 'stat' "$(field "$stat" 'd["trials"]["ok"], d["winners"], d["code_objects"], d["schema"]')" '1 1 1 1.0'

"$moesaic" emit moe_gemm --problem $layer --winner --db "$db" -o "$TMPDIR/k.hip" || failed=1
says "the winner's configuration" "$(cat "$TMPDIR/k.hip")" 'int group_m = 1;'
refused 'no winner' emit moe_gemm --problem $layer,routing=zipf:1.2 --winner --db "$db"
refused 'no winner' emit moe_gemm --problem $layer,pass=down --winner --db "$db"

says 'gc' "$("$moesaic" db gc --code-objects --db "$db")" 'removed 1'
same 'code is gone' "$(field "$("$moesaic" db stat --db "$db" --json)" 'd["code_objects"]')" 0
same 'gc of rows' "$(field "$("$moesaic" db gc --db "$db" --json)" 'd["removed"]')" 0
where=$(MOESAIC_DB=$db "$moesaic" db where --json)
same 'where' "$(field "$where" 'd["layers"][0]["layer"], d["layers"][0]["exists"], d["layers"][-1]["layer"]')" \
    'explicit True shipped'

refused 'moesaic tune' db stat --db "$TMPDIR/none.db"
refused 'moesaic tune' db gc --db "$TMPDIR/none.db"
same 'nothing was made' "$(ls "$TMPDIR"/none.db* 2> /dev/null)" ''
refused 'no trial 7' db show 7 --db "$db"
refused 'no trial' db show seven --db "$db"
refused 'none of ls' db look --db "$db"
refused 'not a SQLite database' db ls --db LICENSE
python3 -c "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 2000')" "$db"
refused 'schema 2.0' db ls --db "$db"
exit $failed
