#!/bin/sh
# tests/cli/test_sim.sh: `moesaic sim -- PROGRAM`: whose libraries a program and its children get, exit status, refusals.
# SPDX-License-Identifier: MIT
set -u
moesaic=${MOESAIC_BUILD:?}/moesaic
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

status_of() {
    "$@" > /dev/null 2>&1
    echo $?
}

# The program's own status is passed on, and so are its arguments and its end by a signal.
same 'status' "$(status_of "$moesaic" sim -- sh -c 'exit 7')" 7
same 'status of success' "$(status_of "$moesaic" sim -- true)" 0
same 'signal' "$(status_of "$moesaic" sim -- sh -c 'kill -TERM $$')" 143
same 'arguments' "$("$moesaic" sim -- printf '%s|' 'a b' '' --mode -- '*')" 'a b||--mode|--|*|'
same 'standard input' "$(echo through | "$moesaic" sim -- cat)" through

# What cannot be started is a wrong call, with the name in the message.
same 'missing program' "$(status_of "$moesaic" sim -- ./no-such-program)" 2
says 'missing program' "$("$moesaic" sim -- ./no-such-program 2>&1)" no-such-program
same 'no program' "$(status_of "$moesaic" sim)" 2
same 'unknown mode' "$(status_of "$moesaic" sim --mode sideways -- true)" 2
says 'unknown mode' "$("$moesaic" sim --mode sideways -- true 2>&1)" sideways
same 'bad seed' "$(status_of "$moesaic" sim --seed x -- true)" 2
same 'folder that is a file' "$(status_of "$moesaic" sim --save-code-objects "$0" -- true)" 2
says 'folder that is a file' "$("$moesaic" sim --save-code-objects "$0" -- true 2>&1)" "$0"
full=$(cd "$(dirname "$moesaic")" && pwd)/moesaic
same 'folder from here' "$(cd "$TMPDIR" && "$full" sim --save-code-objects a/b -- sh -c 'cd / && echo $MOESAIC_SIM_SAVE_CODE_OBJECTS')" \
    "$(cd "$TMPDIR" && pwd -P)/a/b"
same 'no summary without the device' "$("$moesaic" sim -- true 2>&1)" ''

# The program itself runs on the C library that HIP needs; what it starts, on the system's.
maps='sed -n "s/.* \(\/.*libc\.so\.6\)$/\1/p" /proc/self/maps | sort -u'
same 'libc of a child' "$("$moesaic" sim -- sh -c "$maps")" "$(sh -c "$maps")"
same 'library path of a child' "$("$moesaic" sim -- sh -c 'env | grep "^LD_"')" "$(env | grep '^LD_')"
same "comgr's cache" "$("$moesaic" sim -- sh -c 'echo $AMD_COMGR_CACHE')" 0

# A user's own library path stays, for the program and for its children.
same 'own library path' "$(LD_LIBRARY_PATH=/nowhere "$moesaic" sim -- sh -c 'echo $LD_LIBRARY_PATH')" /nowhere

# Python finds HIP and the software device; its children do not.
cat > "$TMPDIR/count.py" <<'PYTHON'
#!/usr/bin/env python3
import ctypes, subprocess
for major in (7, 6):
    try:
        hip = ctypes.CDLL(f"libamdhip64.so.{major}")
        break
    except OSError:
        pass
n = ctypes.c_int()
status = hip.hipGetDeviceCount(ctypes.byref(n))
child = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True)
print(status, n.value, "amdhip64" in open("/proc/self/maps").read(), child.returncode, "moesaic" in child.stdout)
PYTHON
chmod +x "$TMPDIR/count.py"
same 'python3 FILE' "$("$moesaic" sim --quiet -- python3 "$TMPDIR/count.py" 2>&1)" '0 1 True 0 False'
same 'script of python3' "$("$moesaic" sim --quiet -- "$TMPDIR/count.py" 2>&1)" '0 1 True 0 False'

exit $failed
