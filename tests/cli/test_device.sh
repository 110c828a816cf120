#!/bin/sh
# tests/cli/test_device.sh: `moesaic device` states what the software device is.    SPDX-License-Identifier: MIT
set -u
moesaic=${MOESAIC_BUILD:?}/moesaic
failed=0

# has WHAT TEXT PART...
has() {
    what=$1 text=$2
    shift 2
    for part; do
        case $text in *"$part"*) ;; *) echo "$what: '$part' is not in '$text'"; failed=1 ;; esac
    done
}

has json "$("$moesaic" device --device software --json)" '"kind":"software"' '"target":"gfx942"' \
    '"pci_device_id":29857' '"cu_count":304' '"partition":"spx"' '"memory_bytes":206' '"hip_version":"' \
    '"compiler":"amd_comgr' '"model":{"version":"' '"calibrated":false'
has table "$("$moesaic" device --device software)" 'modelled' '304 on 8 XCDs' '0x74a1'
has help "$("$moesaic" device --help)" silicon software unknown

"$moesaic" device --device sideways > /dev/null 2>&1
[ $? = 2 ] || { echo "an unknown device must be a wrong call"; failed=1; }
exit $failed
