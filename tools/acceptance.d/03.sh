# tools/acceptance.d/03.sh: `make tune` tunes ZAYA1's expert layers on a machine with no GPU.
# Read by tools/acceptance in a fresh clone.    SPDX-License-Identifier: MIT

db=build/tuned.db
zaya1=workloads/zaya1.json
layer=hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=512

# --- from nothing to a database -------------------------------------------------------------------------------

# A prefix of its own: HIP is fetched again.
tunes_from_nothing() {
    seconds env MOESAIC_HIP_PREFIX="$scratch/hip" MOESAIC_DEVICE=software make tune > "$scratch/table" || return 1
    echo "$took s"
    at_most "$took" 600
}
item 'make tune on a machine without HIP, seconds of 600' tunes_from_nothing
export MOESAIC_HIP_PREFIX="$scratch/hip" MOESAIC_DEVICE=software

has_the_table() {
    grep -c 'tokens=' "$scratch/table"
    for word in problem winner modelled TFLOP/s roofline 'over default' error ok/wrong/failed; do
        grep -q "$word" "$scratch/table" || { echo "no column $word"; return 1; }
    done
    [ "$(grep -c 'tokens=' "$scratch/table")" -ge 6 ]
}
item 'rows of the table, with all columns' has_the_table

tunes_again() {
    seconds make tune > "$scratch/again" || return 1
    echo "$took s"
    at_most "$took" 5
}
item 'a second make tune, seconds of 5' tunes_again

# --- what the database is good for ----------------------------------------------------------------------------

runs_winners() {
    "$moesaic" run $zaya1 --db $db --json > "$scratch/run" || return 1
    field "$scratch/run" "'%d of %d verified' % (sum(r['verified'] for r in d['results']), len(d['results']))"
    [ "$(field "$scratch/run" "len(d['results']) > 0 and all(r['verified'] for r in d['results'])")" = True ]
}
item 'run launches and verifies every winner' runs_winners
runs_without_code() {
    "$moesaic" db gc --code-objects --db $db && runs_winners
}
item 'run compiles again what gc --code-objects removed' runs_without_code

emits() {
    "$moesaic" emit moe_gemm --problem "$layer" --winner --db $db -o "$scratch/k.hip" &&
        "$moesaic" sim -- python3 tools/acceptance.d/compile.py "$scratch/k.hip"
}
item 'the emitted winner compiles alone without a warning' emits

counts() {
    "$moesaic" space moe_gemm --problem "$layer" --count --json > "$scratch/count" || return 1
    field "$scratch/count" "'%d legal of %d' % (d['legal'], d['total'])"
    [ "$(field "$scratch/count" "d['legal'] >= 1000")" = True ]
}
item 'space --count, legal configurations of at least 1000' counts
explains() { "$moesaic" space moe_gemm --problem "$layer" --why split_k=2 | tr '\n' ' '; }
item 'space --why names the rule' explains

# --- other people's programs ----------------------------------------------------------------------------------

make -s $(for program in vadd reduce transpose histogram; do echo "build/tests/programs/$program"; done) 2> /dev/null
for program in vadd reduce transpose histogram; do
    item "moesaic sim -- $program" "$moesaic" sim -- "build/tests/programs/$program"
done
item 'moesaic sim -- examples/moe_forward' "$moesaic" sim -- build/examples/moe_forward
python_loads_library() {
    "$moesaic" sim -- python3 - << 'PYTHON'
import ctypes
library = ctypes.CDLL("build/libmoesaic.so")
library.moesaic_status_text.restype = ctypes.c_char_p
context, text = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
status = library.moesaic_open(None, ctypes.byref(context), text)
print(library.moesaic_status_text(status).decode(), text.value.decode())
library.moesaic_close(context)
raise SystemExit(status)
PYTHON
}
item 'a Python program opens the library' python_loads_library

# --- bugs, kills, bad input -----------------------------------------------------------------------------------

suite() {
    make "$@" > "$scratch/log" 2>&1
    result=$?
    [ $result = 0 ] || grep '^FAILED' "$scratch/log" >&2
    grep ' passed, ' "$scratch/log"
    return $result
}
planted() {
    make build/tests/tuner/test_planted && OUT=build tools/run-tests build/tests/tuner/test_planted
}
item 'planted bugs never win' planted

# What is in a database: id, times and start of every finished trial.
trials() {
    python3 - "$1" << 'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
for row in db.execute("SELECT id, status, started_at, ended_at FROM trial WHERE ended_at IS NOT NULL ORDER BY id"):
    print(*row)
PYTHON
}
survives_kill() {
    killed=$scratch/killed.db
    "$moesaic" tune $zaya1 --only '*tokens=512*' --budget 12 --db "$killed" > /dev/null 2>&1 &
    tuner=$!
    for i in $(seq 600); do
        sleep 0.1
        [ -f "$killed" ] && [ "$(trials "$killed" 2> /dev/null | wc -l)" -ge 3 ] && break
    done
    kill -9 $tuner
    wait $tuner
    trials "$killed" > "$scratch/before" || return 1
    "$moesaic" tune $zaya1 --only '*tokens=512*' --budget 12 --resume --db "$killed" > /dev/null || return 1
    trials "$killed" > "$scratch/after" || return 1
    echo "$(wc -l < "$scratch/before") finished before the kill, $(wc -l < "$scratch/after") in the end"
    [ -s "$scratch/before" ] && [ -z "$(comm -23 "$scratch/before" "$scratch/after")" ]
}
item 'kill -9 and --resume: all there, none repeated' survives_kill

# wrong NAME PATTERN ARGUMENT...: exit 2, the pattern in the message, no database written
n_wrong=0
wrong() {
    name=$1 pattern=$2
    shift 2
    "$moesaic" "$@" --db "$scratch/bad.db" > "$scratch/out" 2> "$scratch/message"
    result=$?
    n_wrong=$((n_wrong + 1))
    [ $result = 2 ] && grep -q -e "$pattern" "$scratch/message" && [ ! -e "$scratch/bad.db" ] && return
    echo "$name: status $result: $(cat "$scratch/message")" >&2
    refused=no
}
# workload FIELD VALUE: a workload file with one field changed
workload() {
    sed "s/\"$1\": [^,]*,/\"$1\": $2,/" $zaya1 > "$scratch/$1.json"
    echo "$scratch/$1.json"
}
refuses() {
    refused=yes
    echo '{"moe": [' > "$scratch/malformed.json"
    wrong 'missing file' nowhere.json tune nowhere.json
    wrong 'malformed JSON' malformed tune "$scratch/malformed.json"
    wrong 'negative size' -1 tune "$(workload hidden -1)"
    wrong 'absurd size' 99999999999 tune "$(workload experts 99999999999)"
    wrong 'unknown dtype' w4a4 tune "$(workload dtype '"w4a4"')"
    wrong 'top-k above the experts' top_k tune "$(workload top_k 17)"
    wrong 'unknown pass' sideways emit moe_gemm --problem "$layer,pass=sideways"
    cp $db "$scratch/newer.db"
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99000000")' \
        "$scratch/newer.db"
    sum=$(cksum < "$scratch/newer.db")
    "$moesaic" tune $zaya1 --db "$scratch/newer.db" > /dev/null 2>&1
    [ $? = 2 ] && [ "$(cksum < "$scratch/newer.db")" = "$sum" ] || { echo 'newer schema' >&2; refused=no; }
    echo "$((n_wrong + 1)) kinds"
    [ $refused = yes ]
}
item 'bad input: exit 2, a message, nothing written' refuses
not_run 'a read-only database' 'tests/cli has it: root may write anywhere'

# --- suites and speed -----------------------------------------------------------------------------------------

item 'make test' suite test
item 'make test-sanitize' suite test-sanitize
emulator_is_fast() {
    make bench > /dev/null && build/bench/emulator --json > "$scratch/bench" || return 1
    field "$scratch/bench" "'ratio %.2f to OpenBLAS (%s), %.3g wave-instructions/s' % (d['gemm_ratio_openblas'], d['openblas_core'], d['valu_wave_instr_per_s'])"
    [ "$(field "$scratch/bench" "d['gemm_ratio_openblas'] >= 0.5")" = True ]
}
item 'bench/emulator, ratio of at least 0.5' emulator_is_fast
