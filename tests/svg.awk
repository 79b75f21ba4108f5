# What an SVG figure says, and where its marks are: texts as they are drawn; then, by kind
# of mark and colour, how many there are and the sums of their numbers; tips likewise.
function attribute(name) {
    if (!match($0, "[ <]" name "=\"[^\"]*\""))
        return ""
    at = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    return at
}
function add(key, text,   n, i, parts) {
    n = split(text, parts, /[^0-9.e-]+/)
    for (i = 1; i <= n; i++)
        sums[key] += parts[i]
}
/<defs>/ { defined = 1 }
/<\/defs>/ { defined = 0 }
defined || !/^<[a-z]+ / { next }
{
    kind = substr($1, 2)
    colour = attribute("fill")
    if (colour == "" || colour == "none")
        colour = attribute("stroke")
    key = kind " " colour
    if (!(key in counts))
        keys[++n_keys] = key
    counts[key]++
    n = split("x y width height points d cx cy r x1 y1 x2 y2 stroke-width font-size opacity", names, " ")
    for (i = 1; i <= n; i++)
        add(key, attribute(names[i]))
}
/<title>/ {
    tip = $0
    gsub(/.*<title>|<\/title>.*/, "", tip)
    if (!tips++)
        first = tip
    add("tip", tip)
    last = tip
}
/^<text/ && /<\/text>/ {
    text = $0
    gsub(/<title>.*<\/title>|<[^>]*>/, "", text)
    print text
}
END {
    for (k = 1; k <= n_keys; k++)
        if (keys[k] != "g ")
            printf "%s: %d, %.1f\n", keys[k], counts[keys[k]], sums[keys[k]]
    if (tips)
        printf "tips: %d, %.1f\n  %s\n  %s\n", tips, sums["tip"], first, last
}
