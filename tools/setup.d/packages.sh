# tools/setup.d/packages.sh: build tools from the system's package manager.    SPDX-License-Identifier: MIT
#
# tools/packages.txt says which, what each is for and how its presence is recognised, so that a system which has
# them from elsewhere needs no apt.

packages_have() {
    what=${1#*:}
    case $1 in
    command:*) command -v "$what" > /dev/null ;;
    header:*) echo "#include <$what>" | gcc -E -x c - > /dev/null 2>&1 ;;
    library:*) echo 'int main(void) { return 0; }' | gcc -x c - -o "$scratch/probe" "-l$what" 2> /dev/null ;;
    esac
}

# Prints the missing packages of the wanted need ("build" is part of each) and tells why they are.
packages_missing() {
    grep -v '^#' tools/packages.txt | while read -r package for found_when why; do
        [ "$for" = build ] || [ "$for" = "$1" ] || continue
        packages_have "$found_when" && continue
        say "$package is missing: $why"
        echo "$package"
    done
}

packages_apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" \
        < /dev/null > "$scratch/apt.log" 2>&1
}

packages_install() {
    missing=$(packages_missing "$1" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    command -v apt-get > /dev/null || stop "please install what is called on Debian: $missing"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        as_root='sudo -n'
        $as_root true 2> /dev/null || stop "not root; please run: sudo apt-get install $missing"
    fi
    say "installing with apt-get: $missing"
    retry packages_apt update || say "warning: apt-get update failed: $(tail -n 1 "$scratch/apt.log")"
    # Word splitting is wanted: a list of names.
    retry packages_apt install -y --no-install-recommends $missing || {
        cat "$scratch/apt.log" >&2
        stop "apt-get install $missing failed, see above"
    }
}
