#!/bin/sh
# tests/cli/test_sim_programs.sh: HIP programs that know nothing of us are right on the software device.
# SPDX-License-Identifier: MIT
set -u
failed=0
for program in vadd reduce transpose histogram; do
    for mode in timed exact; do
        said=$("${MOESAIC_BUILD:?}/moesaic" sim --quiet --mode $mode -- "$MOESAIC_BUILD/tests/programs/$program" 2>&1)
        status=$?
        [ "$status $said" = "0 $program: ok" ] && continue
        echo "$program, --mode $mode: status $status: $said"
        failed=1
    done
done

# last WHAT PATTERN OPTION...: the last line on stderr of vadd, which launches one kernel of its own.
last() {
    what=$1 pattern=$2
    shift 2
    line=$("$MOESAIC_BUILD/moesaic" sim "$@" -- "$MOESAIC_BUILD/tests/programs/vadd" 2>&1 > /dev/null | tail -n 1)
    echo "$line" | grep -Eqx "$pattern" && return
    echo "$what: '$line' is not '$pattern'"
    failed=1
}
last 'summary' 'moesaic: [1-9][0-9]* kernels? run, [1-9][0-9]* wave-instructions, 0 faults'
last 'summary of exact' 'moesaic: [1-9][0-9]* kernels? run, wave-instructions not counted \(mode exact\), 0 faults' \
    --mode exact
last 'no summary' '' --quiet

# The folder is made; the objects are those that ran.
"$MOESAIC_BUILD/moesaic" sim --quiet --save-code-objects "$TMPDIR/saved/here" -- \
    "$MOESAIC_BUILD/tests/programs/vadd" > /dev/null
grep -lq vadd.kd "$TMPDIR"/saved/here/*.co || {
    echo "--save-code-objects: no code object with vadd in $(ls -R "$TMPDIR/saved" 2>&1)"
    failed=1
}
exit $failed
