# tools/setup.d/hip.sh: an installed ROCm, else HIP from Debian in a private prefix.    SPDX-License-Identifier: MIT
#
# Sets hip_kind (rocm: runs with the system's loader; private: needs its own), hip_include, hip_lib, hip_major
# and hip_version.  The private prefix holds a complete closure down to libc, unpacked from packages that
# apt has verified with the keys this system trusts already; apt's and dpkg's own state are not touched.

# Is there a usable HIP under root $1?  Runtime, hiprtc, comgr and headers of the same place.
hip_look_in() {
    for hip_include in "$1/include" "$1/usr/include"; do
        [ -f "$hip_include/hip/hip_runtime_api.h" ] && [ -f "$hip_include/hsa/hsa.h" ] &&
            [ -f "$hip_include/amd_comgr/amd_comgr.h" ] || continue
        for hip_lib in "$1/lib" "$1/lib64" "$1/lib/x86_64-linux-gnu" "$1/usr/lib/x86_64-linux-gnu"; do
            for hip_major in 7 6; do
                [ -e "$hip_lib/libamdhip64.so.$hip_major" ] && [ -e "$hip_lib/libhiprtc.so.$hip_major" ] &&
                    ls "$hip_lib"/libamd_comgr.so.? > /dev/null 2>&1 && return 0
            done
        done
    done
    return 1
}

hip_read_version() {
    hip_version=$(awk '$2 ~ /^HIP_VERSION_(MAJOR|MINOR|PATCH)$/ { printf "%s%s", dot, $3; dot = "." }' \
        "$hip_include/hip/hip_version.h")
}

hip_find_installed() {
    hip_kind=rocm
    if [ -n "${ROCM_PATH:-}" ]; then
        hip_look_in "$ROCM_PATH" && return 0
        stop "ROCM_PATH=$ROCM_PATH holds no HIP with hiprtc, comgr and headers; correct it or unset it"
    fi
    for root in /opt/rocm "$(hipconfig --rocmpath 2> /dev/null || true)" /usr; do
        [ -n "$root" ] && hip_look_in "$root" && return 0
    done
    return 1
}

hip_prefix() {
    data=${XDG_DATA_HOME:-${HOME:?HOME is not set; set it, or MOESAIC_HIP_PREFIX}/.local/share}
    echo "${MOESAIC_HIP_PREFIX:-$data/moesaic/hip}"
}

hip_private_is_complete() { hip_look_in "$1/root" && [ -x "$hip_lib/ld-linux-x86-64.so.2" ]; }

hip_find() {
    if ! hip_find_installed; then
        hip_kind=private
        prefix=$(hip_prefix)
        hip_private_is_complete "$prefix" || hip_fetch "$prefix"
        hip_private_is_complete "$prefix" || stop "the HIP in $prefix is incomplete; remove that folder and try again"
    fi
    hip_read_version
}

# The address of this system's Debian archive, as apt knows it: never one of the security or update suites.
hip_archive() {
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$release" '$1 ~ /[-\/]/ || $2 !~ /^(https?|mirror|ftp|file)/ { next }
            $1 == release { print $2; found = 1; exit } !other { other = $2 } END { if (!found) print other }'
}

# An apt of its own below folder $1.  Its empty status file makes apt resolve the closure down to libc.
hip_make_apt() {
    mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial"
    : > "$1/state/status"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -f "$keys" ] && signed="[signed-by=$keys] " || signed=
    echo "deb $signed$2 $(locked suite) main" > "$1/sources.list"
    cat > "$1/apt.conf" <<CONF
Dir::State "$1/state";
Dir::State::status "$1/state/status";
Dir::Cache "$1/cache";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
CONF
}

hip_download() {
    APT_CONFIG=$1/apt.conf apt-get -q update > "$1/log" 2>&1 &&
        APT_CONFIG=$1/apt.conf apt-get -q -y --download-only install libamdhip64-dev libc6 >> "$1/log" 2>&1
}

# One line per package: name, version; both as the package file itself states them.
hip_unpack() {
    for package in "$1"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$1/root" || return 1
        dpkg-deb -W --showformat='${Package} ${Version}\n' "$package" >> "$1/root/packages" || return 1
    done
}

hip_fetch() {
    [ "$(uname -m)" = x86_64 ] || stop "this is a $(uname -m) machine; HIP is fetched for x86_64 only"
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null ||
        stop "no ROCm found (ROCM_PATH, /opt/rocm, hipconfig), and no apt to fetch HIP with; please install ROCm 6.4 or later"
    archive=$(hip_archive)
    grep -q '^ID=debian' /etc/os-release && [ -n "$archive" ] ||
        stop "no ROCm found (ROCM_PATH, /opt/rocm, hipconfig), and apt knows no Debian archive to fetch HIP from; please install ROCm 6.4 or later"
    say "no ROCm found: unpacking HIP, hiprtc and comgr from Debian $(locked suite) into $1"
    say "  (70 MB to fetch, 300 MB on disk; no root, nothing of the system is changed)"
    mkdir -p "$1" || stop "cannot make $1; set MOESAIC_HIP_PREFIX to a folder that you may write"
    prefix=$(cd "$1" && pwd)
    exec 9> "$prefix/lock"
    flock 9
    if ! hip_private_is_complete "$prefix"; then
        hip_fetch_locked
    fi
    exec 9>&-
}

hip_fetch_locked() {
    rm -rf "$prefix"/new.* # of a set-up that was killed
    work=$(mktemp -d "$prefix/new.XXXXXX")
    trap 'rm -rf "$scratch" "$work"' EXIT
    hip_make_apt "$work" "$archive"
    retry hip_download "$work" || {
        cat "$work/log" >&2
        stop "fetching HIP from the Debian archive failed, see above; is the network there?"
    }
    hip_unpack "$work" || stop "unpacking into $prefix failed; is the disk full?"
    rm -rf "$prefix/root"
    mv "$work/root" "$prefix/root"
    rm -rf "$work"
    while read -r package version; do
        warn_if_newer "$package" "$version"
    done < "$prefix/root/packages"
}
