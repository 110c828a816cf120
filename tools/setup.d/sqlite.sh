# tools/setup.d/sqlite.sh: SQLite 3.37 or newer with its math functions.    SPDX-License-Identifier: MIT
#
# Sets sqlite_flags and sqlite_libs (empty for the system's own).  STRICT tables came with 3.37; search spaces use
# functions like ceil and log2, which are a build option.

sqlite_works() {
    cat > "$scratch/sqlite.c" <<'C'
#include <sqlite3.h>
#include <stdio.h>
int main(void)
{
    sqlite3 *db = NULL;
    const char *sql = "CREATE TABLE t(a INT) STRICT; SELECT ceil(log2(pow(2, 3)))";
    int failed = sqlite3_libversion_number() < 3037000 || sqlite3_open(":memory:", &db) != SQLITE_OK ||
                 sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK;
    puts(sqlite3_libversion());
    sqlite3_close(db);
    return failed;
}
C
    gcc $sqlite_flags -o "$scratch/sqlite" "$scratch/sqlite.c" ${sqlite_libs:--lsqlite3} > "$scratch/log" 2>&1 &&
        sqlite_version=$("$scratch/sqlite")
}

sqlite_find() {
    sqlite_flags= sqlite_libs=
    sqlite_works && return 0
    prefix=$(hip_prefix)/../sqlite
    sqlite_flags=-I$prefix sqlite_libs="$prefix/libsqlite3.a -lm -lpthread -ldl"
    sqlite_works && return 0
    sqlite_build
    sqlite_works || stop "SQLite 3.37 or newer with math functions is needed; the private build in $prefix does not work"
}

# Debian's own source package, so that the archive and keys are the ones that apt knows.
sqlite_build() {
    say "the system's SQLite is older than 3.37 or has no math functions: building one in $prefix"
    archive=$(hip_archive)
    [ -n "$archive" ] || stop "apt knows no Debian archive; please install SQLite 3.37 or newer with SQLITE_ENABLE_MATH_FUNCTIONS"
    work=$scratch/sqlite-build
    mkdir -p "$work/source" "$prefix"
    hip_make_apt "$work" "$archive"
    sed -i 's/^deb /deb-src /' "$work/sources.list"
    retry sqlite_download || { cat "$work/log" >&2; stop "fetching SQLite's source failed, see above"; }
    (
        cd "$work/source"
        tar -x --strip-components=1 -f ../sqlite3_*.orig.tar.*
        ./configure > ../log 2>&1 && make sqlite3.c >> ../log 2>&1 &&
            gcc -O2 -fPIC -DSQLITE_ENABLE_MATH_FUNCTIONS -c sqlite3.c && ar rcs libsqlite3.a sqlite3.o
    ) || { tail -n 20 "$work/log" >&2; stop "building SQLite failed, see above"; }
    cp "$work/source/sqlite3.h" "$work/source/libsqlite3.a" "$prefix"
}

sqlite_download() {
    (
        cd "$work"
        export APT_CONFIG=$work/apt.conf
        apt-get -q update > log 2>&1 && apt-get -q --download-only source sqlite3 >> log 2>&1
    )
}
