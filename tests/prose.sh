#!/bin/sh
# The language of pages, comments, messages and data:
#   - Private words, listed below with the field's words for them, occur nowhere.
#   - A sentence of a page has at most 25 words. A word has two letters or more in a row;
#     code counts as one, and what is in parentheses as a sentence of its own. In MODEL.md
#     ";" and ":" end a sentence as well: its items define one symbol after the other.
#     Tables, headings, blocks of code and generated pages are left out.
set -u
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/words" <<'WORDS'
beside	next to; overlapped with, during; in addition to
besides	in addition to
behind	after
stands	is; represents
told	known, reported; identified
tells	says, shows; identifies
tell	say, show; identify
doubt	unresolved
doubts	unresolved
encounter	wait state
spell	busy interval
twins	duplicates
fuser	fusion coordinator
masterless	no master weights
words_s	tied-embedding all-reduce
wire_way	gradient reduction
context_way	context-parallel method
score_cap	attention soft-capping
logit_cap	logit soft-capping
heads_deal	Ulysses all-to-all
heads_return	Ulysses all-to-all
soften	launch jitter
softens	launch jitter
softened	launch jitter
softening	launch jitter
sick	outlier run
era	software generation
WORDS

# files of ours; tables of measurements and outputs of programs are others' words
files() {
    find README.md ARCHITECTURE.md MODEL.md docs src tests/unit models topologies schemas \
        scenarios validate/cases validate/own validate/measure plots/README.md Makefile \
        -type f ! -name reference.md ! -name dialects.md \( -name '*.md' -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \
        -o -name '*.json' -o -name '*.sh' -o -name '*.py' -o -name Makefile \)
}

find_words() {
    cut -f 1 "$tmp/words" >"$tmp/list"
    files | xargs grep -nwiF -f "$tmp/list" | grep -v 'CFG_RENAMED(' |
        awk -F '\t' 'NR == FNR { use[$1] = $2; next }
            {
                line = tolower($0)
                sub(/^[^:]*:[0-9]*:/, "", line)
                gsub(/[^a-z0-9_]+/, " ", line)
                n = split(line, words, " ")
                place = $0
                sub(/^[^:]*:[0-9]*/, "&\t", place)
                sub(/\t.*/, "", place)
                for (i = 1; i <= n; i++)
                    if (words[i] in use)
                        printf "%s: \"%s\" (write: %s)\n", place, words[i], use[words[i]]
            }' "$tmp/words" -
}

# long_sentences ENDS PAGE...: ENDS matches the end of a sentence
long_sentences() {
    ends=$1
    shift
    awk -v ends="$ends" -v most=25 '
    function check(text, line,    words, n, i, count) {
        n = split(text, words, /[ \t]+/)
        for (i = 1; i <= n; i++)
            count += words[i] ~ /[A-Za-z][A-Za-z]/
        if (count > most)
            printf "%s:%d: a sentence of %d words (at most %d): %s\n", file, line, count, most, text
    }
    # the sentences of a text without parentheses
    function sentences(text, line) {
        while (match(text, ends)) {
            check(substr(text, 1, RSTART), line)
            text = substr(text, RSTART + 1)
        }
        check(text, line)
    }
    function flush(    inner) {
        gsub(/`[^`]*`/, "Code", text)
        gsub(/\]\([^)]*\)/, "]", text)
        gsub(/[0-9]\. /, "& ", text)
        while (match(text, /\([^()]*\)/)) {
            inner = substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
            sentences(inner, start)
        }
        sub(/ +\./, ".", text)
        sentences(text, start)
        text = ""
    }
    FNR == 1 { if (file != "") flush(); file = FILENAME; block = 0 }
    /^[ \t]*```/ { flush(); block = !block; next }
    block { next }
    /^[ \t]*$/ || /^[ \t]*\|/ || /^#/ || /^!\[/ || /^    [^ ]/ && text == "" { flush(); next }
    /^[ \t]*([-*]|[0-9]+\.) / { flush(); sub(/^[ \t]*([-*]|[0-9]+\.) /, "") }
    { if (text == "") start = FNR; text = text " " $0 }
    END { flush() }' "$@"
}

{
    find_words
    end='[.!?]["*_]*[ \t]+([A-Z0-9*"]|smsim)'
    long_sentences "$end" README.md ARCHITECTURE.md docs/validation/*.md plots/README.md \
        $(ls docs/*.md | grep -vE "reference.md|dialects.md")
    long_sentences "$end|[;:][ \t]" MODEL.md
} >"$tmp/found"
if [ -s "$tmp/found" ]; then
    sed 's/^/prose: /' "$tmp/found"
    exit 1
fi
echo "prose: words and sentences are as they should be"
