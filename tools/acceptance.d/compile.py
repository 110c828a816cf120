# tools/acceptance.d/compile.py FILE: compiles a HIP file with hiprtc alone; status 1 when hiprtc has anything to say.
# SPDX-License-Identifier: MIT
import ctypes
import sys

for name in ("libhiprtc.so.7", "libhiprtc.so.6"):
    try:
        hiprtc = ctypes.CDLL(name)
        break
    except OSError:
        pass
source = open(sys.argv[1], "rb").read()
options = (ctypes.c_char_p * 2)(b"--offload-arch=gfx942", b"-Wall")
program, n = ctypes.c_void_p(), ctypes.c_size_t()
hiprtc.hiprtcCreateProgram(ctypes.byref(program), source, b"k.hip", 0, None, None)
status = hiprtc.hiprtcCompileProgram(program, len(options), options)
hiprtc.hiprtcGetProgramLogSize(program, ctypes.byref(n))
log = ctypes.create_string_buffer(n.value + 1)
hiprtc.hiprtcGetProgramLog(program, log)
said = log.value.decode().strip()
print(said if said else "%d lines, status %d, nothing in the log" % (source.count(b"\n"), status))
sys.exit(status != 0 or said != "")
