# tools/layers.awk: reads tools/layers.txt, then sources, and prints each include that breaks a rule.
# SPDX-License-Identifier: MIT

function pattern(shell)
{
    gsub(/\./, "\\.", shell)
    gsub(/\*/, "[^/]*", shell)
    return "^(" shell ")$"
}

# The longest folder with a rule that holds the file.
function room_of(path)
{
    while (sub(/\/[^\/]*$/, "", path))
        if (path in allowed)
            return path
    return ""
}

function is_in_list(folder, list,    n, i, word)
{
    n = split(list, word, " ")
    for (i = 1; i <= n; i++)
        if (folder == word[i] || index(folder, word[i] "/") == 1)
            return 1
    return 0
}

function is_allowed(room, header,    n, i, word, top)
{
    top = room
    sub(/^include$/, "moesaic", top)
    if (index(header, top "/") == 1)
        return 1
    if (header ~ /_int\.h$/ && room !~ /^tests\//)
        return 0
    n = split(allowed[room], word, " ")
    for (i = 1; i <= n; i++)
        if (header ~ pattern(word[i]))
            return 1
    return 0
}

function complain(what)
{
    printf "%s:%d: %s (tools/layers.txt)\n", file, FNR, what
    bad = 1
}

FNR == NR && /^</ {
    header = $1
    $1 = ""
    restricted[header] = $0
    next
}
FNR == NR && /^[a-z]/ {
    room = $1
    $1 = ""
    allowed[room] = $0
    next
}
FNR == NR { next }

FNR == 1 {
    file = FILENAME
    sub(/^\.\//, "", file)
    room = room_of(file)
    if (room == "")
        complain("its folder has no rule")
}

room == "" { next }

/^[ \t]*# *include "/ {
    split($0, part, "\"")
    if (part[2] !~ /\// && part[2] !~ /\.h$/)
        next
    if (!is_allowed(room, part[2]))
        complain(room " may not include \"" part[2] "\"")
}

/^[ \t]*# *include </ {
    match($0, /<[^>]*>/)
    header = substr($0, RSTART, RLENGTH)
    for (rule in restricted)
        if (header ~ pattern(rule) && !is_in_list(room, restricted[rule]))
            complain(room " may not include " header)
}

END { exit bad }
