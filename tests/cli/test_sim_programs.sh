#!/bin/sh
# tests/cli/test_sim_programs.sh: HIP programs that know nothing of us are right on the software device.
# SPDX-License-Identifier: MIT
set -u
failed=0
for program in vadd reduce transpose histogram; do
    for mode in timed exact; do
        said=$("${MOESAIC_BUILD:?}/moesaic" sim --mode $mode -- "$MOESAIC_BUILD/tests/programs/$program" 2>&1)
        status=$?
        [ "$status $said" = "0 $program: ok" ] && continue
        echo "$program, --mode $mode: status $status: $said"
        failed=1
    done
done
exit $failed
