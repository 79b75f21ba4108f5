/* Shell scripts: which commands they start with which words, what is not known and says
 * why, the files they write; limits, and texts that are broken. Megatron's arguments:
 * test_megatron.c. */
#include "base/strbuf.h"
#include "dialect/shell/shell.h"
#include "sample.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void test_shell_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- words ------------------------------------------------------------------------ */

/* The commands as text: "a|b; c" with words in bars, "?" before what is not known, "~"
 * before a command that may not be reached. */
static void show(char *out, size_t size, const struct shell *s)
{
    size_t at = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < s->commands.n && at < size - 200; i++) {
        const struct shell_command *c = &s->commands.v[i];
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? "; " : "",
                               c->unless ? "~" : "");
        for (int32_t j = 0; j < c->n && at < size - 200; j++)
            at += (size_t)snprintf(out + at, size - at, "%s%s%.100s", j ? "|" : "",
                                   c->words[j].why ? "?" : "", c->words[j].text);
    }
}

static const struct {
    const char *text, *commands;
} cases[] = {
    /* words and quotes */
    { "a b  c # d\n", "a|b|c" },
    { "a \\\n  b\n", "a|b" },
    { "a 'b c' \"d e\" f\\ g", "a|b c|d e|f g" },
    { "a 'x'\"y\"z", "a|xyz" },
    { "a '' \"\"", "a||" },
    { "a; b && c || d", "a; b; c" },
    { "a | b 2>&1 | c > f", "a; b; c" },
    { "a &> f &\nb", "a; b" },
    { "# a\n  # b\nc", "c" },
    { "a b#c", "a|b#c" },
    { "a 'b\nc'", "a|b\nc" },
    { "a \"\\$x \\\"q\\\"\"", "a|$x \"q\"" },
    { "a <PATH TO DATA> b", "a|?<...>|b" },
    { "a < in > out b", "a|b" },
    { "\xef\xbb\xbf"
      "a b\r\n",
      "a|b" },
    /* variables */
    { "x=1\na $x ${x} \"$x\" '$x'", "a|1|1|1|$x" },
    { "x=\"b c\"\na $x \"$x\"", "a|b|c|b c" },
    { "x=\na $x b \"$x\"", "a|b|" },
    { "x=b; x+=c; a $x", "a|bc" },
    { "export x=b y=c; a $x$y", "a|bc" },
    { "x=b; x=c a $x", "a|b" },
    /* what is set for one command is its own */
    { "x=1; x=2 a $x; b $x", "a|1; b|1" },
    { "x=2 a; b $x", "a; b|?$x" },
    { "x=1; env x=2 a $x; b $x", "env|a|1; b|1" },
    { "x=1; x=2 y=$x bash -c 'a $x $y'; b $x $y", "bash|-c|a $x $y; a|2|2; b|1|?$y" },
    { "f() { a $x; }; x=1; x=2 f; b $x", "a|2; b|1" },
    { "f() { local x=4; x=5 a $x; b $x; }; x=1; f; c $x", "a|4; b|4; c|1" },
    { "x=1; if [ -f y ]; then x=2 a; fi; b $x", "~a; b|1" },
    { "n=1; for i in 1 2; do n=$i a; done; b $n; x=1 y=2; c $x $y",
      "a; a; b|1; c|1|2" },
    { "y=(); \"${y[@]}\" x=1; a $x", "a|1" },
    { "IFS=,; x=1,,2; a $x \"$x\"; y=(p q); b \"${y[*]}\"", "a|1||2|1,,2; b|p,q" },
    { "a $'x\\ty' {1..3} {b,c}d e{08..10} {x} \"{1..3}\" f{g,{h,i}j}",
      "a|x\ty|1|2|3|bd|cd|e08|e09|e10|{x}|{1..3}|fg|fhj|fij" },
    { "x=2; a {1..$x} {a..c} --d={$x,3}; for i in {3..1}; do b $i; done",
      "a|{1..2}|a|b|c|--d=2|--d=3; b|3; b|2; b|1" },
    { "a $y ${1} $(date) `pwd`/b", "a|?$y|?$1|?$(date)|?$(pwd)/b" },
    { "a ${x:-b} ${x-c} ${x:+d} ${x:-}", "a|b|c" },
    { "x=1; a ${x:-b} ${x:+d} ${1:-e}", "a|1|d|e" },
    { ": \"${x:=b}\"\na $x", "a|b" },
    { "a ${x:-\"b c\"} ${x:-${y:-d}}", "a|b|c|d" },
    { "x=\"--b $y --c\"\na $x", "a|--b|?$y|--c" },
    { "x=$x\na $x", "a|?$x" },
    /* arrays */
    { "x=(b \"c d\" # e\n f)\na ${x[@]}", "a|b|c|d|f" },
    { "x=(b \"c d\")\na \"${x[@]}\" ${#x[@]}", "a|b|c d|2" },
    { "x=(b)\nx+=(c d)\na \"${x[@]}\" ${x[1]} ${x[7]} $x", "a|b|c|d|c|b" },
    { "x=()\na \"${x[@]}\" b", "a|b" },
    { "declare -a x=(b c)\na ${x[*]}", "a|b|c" },
    { "x=(--b=$y)\nz=(\"${x[@]}\" c)\na \"${z[@]}\"", "a|?--b=$y|c" },
    { "x[0]=b\nx[1]=c\na ${x[@]}", "a|b|c" },
    /* arithmetic */
    { "x=4; a $((x * 2)) $(( $x+1 )) $(( (x - 1) / 2 * 3 ))", "a|8|5|3" },
    { "a $((7 % 4)) $((-3 + 1)) $((0x10)) $((1 > 2 ? 5 : 6))", "a|3|-2|16|6" },
    { "x=y; y=3; a $((x + 1))", "a|4" },
    { "a $((1 / 0)) $((9223372036854775807 + 1)) $((z)) $((1 +))",
      "a|?$((...))|?$((...))|?$((...))|?$((...))" },
    { "x=$(date); a $((x + 1))", "a|?$(date)" },
    { "x=x; a $((x))", "a|?$((...))" },
    /* conditions */
    { "if [ 1 = 1 ]; then a; else b; fi", "a" },
    { "x='--q --z'; if echo \"$x\" | grep -q -- --z; then a; else b; fi",
      "echo|--q "
      "--z; grep|-q|--|--z; a" },
    { "if grep -qi 'LLAMA.2' <<< llama-2; then a; fi", "grep|-qi|LLAMA.2; a" },
    { "if ! grep -qF a.b <<< aXb; then a; fi", "grep|-qF|a.b; a" },
    { "if grep -q 'a*' <<< b; then a; fi", "grep|-q|a*; ~a" },
    { "x=8B\nif [ $x = 7B ]; then a; elif [ $x = 8B ]; then b; else c; fi", "b" },
    { "x=8\nif [[ $x -gt 4 && -n \"$x\" ]]; then a; fi", "a" },
    { "if [[ 2 == 1 ]] || [[ -z \"$y\" ]]; then a; fi", "a" },
    { "if [ -n \"$y\" ]; then a; fi; b", "b" },
    { "if [ -f y ]; then a; else b; fi", "~a; ~b" },
    { "if [ \"$1\" = z ]; then x=1; else x=2; fi; a $x", "a|?$x" },
    { "x=\"b\"\nif [ $1 = z ]; then x=\"$x c\"; fi; a $x", "a|b|?$x" },
    { "x=(b)\nif [ $1 = z ]; then x+=(c); fi; a ${x[@]}", "a|b|?$x" },
    { "if ! grep -q x y; then exit 1; fi; a", "grep|-q|x|y; a" },
    { "[ 1 = 2 ] && a; [ 1 = 1 ] && b; [ 1 = 1 ] || c", "b" },
    { "[[ -f x ]] || { a; exit 1; }; b", "~a; b" },
    { "case 8B in 7B|8B) a ;; *) b ;; esac", "a" },
    { "case $1 in x) a;; *) b;; esac", "~a; ~b" },
    { "case abc in a*) a;; *) b;; esac", "a" },
    { "if (( 3 > 2 )); then a; fi", "a" },
    { "case 4gpu in [0-9]*) a;; *) b;; esac; case x in [!0-9^]) c;; esac", "a; c" },
    { "if [[ ab1 == [a-c]b[[:digit:]] ]]; then a; fi; [[ ]x == []a]x ]] && b", "a; b" },
    { "p='[0-9]*'; [[ 4x == $p ]] && a; [[ 4x == \"$p\" ]] || b; [ 4x = $p ] || c; "
      "case "
      "'[0-9]*' in \"$p\") d;; esac; case '*' in '?') e;; \\*) f;; esac",
      "a; b; c; d; f" },
    { "case a[ in a[) a;; esac; x=b.sh; a ${x%.[a-s]h} ${x##*[.]}", "a; a|b|sh" },
    { "[[ -v x ]] || a; x=1; [[ -v x ]] && b; x=$(c); [[ -v x ]] && d", "a; b; ~d" },
    { "exit 0\na", "" },
    { "if [ -z \"$1\" ]; then echo usage; exit 1; fi; a", "echo|usage; a" },
    { "if [ -z $SLURM_JOB_ID ]; then sbatch $0; exit; fi; a", "~sbatch|?$0; a" },
    /* loops and functions */
    { "for x in b c; do a $x; done", "a|b; a|c" },
    { "x=; for i in 1 2 3; do x=\"$x $i\"; done; a $x", "a|1|2|3" },
    { "i=0; while [ $i -lt 2 ]; do i=$((i+1)); a $i; done", "a|1; a|2" },
    { "while [[ $# -gt 0 ]]; do x=$1; shift; done; a ${x:-d}", "a|d" },
    { "while true; do a && break; done; b", "a; b" },
    { "while true; do a; if [ -f x ]; then break; fi; done; b", "a; b" },
    { "for i in 1 2; do while true; do a $i; break; done; done", "a|1; a|2" },
    { "for i in 1 2; do a $i && break; done; b", "a|1; b" },
    { "for i in 1 2; do a $i || break; done; b", "a|1; a|2; b" },
    { "a ${N:?set N}", "a|?$N" },
    { "N=4; a ${N:?set N}", "a|4" },
    { "H=$(hostname); a ${H:+w}", "a|?$(hostname)" },
    { "A=(1 2); a ${A[1]} ${A[99999999999999999999]}", "a|2" },
    { "for ((i=0; i<3; i++)); do a $i; done; b $i", "a|0; a|1; a|2; b|3" },
    { "for ((i = 8; i > 1; i /= 2)); do x+=$i,; done; a $x", "a|8,4,2," },
    { "for ((i=0; i<9; i++)); do if [ $i = 2 ]; then break; fi; done; a $i", "a|2" },
    { "for ((i=0; i<$n; i++)); do x=$i; done; a", "a" },
    { "x=1; ((x++)); ((x += 2, x *= 3)); let x-=1 y=x/2; a $x $y", "a|11|5" },
    { "x=3; y=$((x++ * 10 + x)); a $x $y $((--x)) $((y = 7)) $y", "a|4|34|3|7|7" },
    { "x=0; a $((1 || x++)) $((0 && x++)) $((x ? x++ : (x = 5))) $x", "a|1|0|5|5" },
    { "a $((2 ** 10)) $((1 << 4)) $((255 & ~15)) $((6 ^ 3 | 8)) $((-7 % 3))",
      "a|1024|16|240|13|-1" },
    { "x=$(date); ((x++)); a $x", "a|?$(date)" },
    { "f() { a $1; }\nf b; f c", "a|b; a|c" },
    { "function f { a; }\nf", "a" },
    { "( a ); { b; }", "a; b" },
    /* what leaves a loop, a function, a subshell */
    { "for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; a $i; done", "a|1; a|3" },
    { "for i in 1 2 3; do [ $i = 2 ] && break; a $i; done; b", "a|1; b" },
    { "for i in 1 2; do for j in 1 2; do a $i $j; continue 2; b; done; c; done",
      "a|1|1; a|2|1" },
    { "for i in 1 2; do for j in 1 2; do a $i $j; break 2; b; done; c; done; d",
      "a|1|1; d" },
    { "for i in 1 2; do for j in 1 2; do a $i $j; break 9; done; done; d", "a|1|1; d" },
    { "while true; do break; a; done; b", "b" },
    { "i=0; while [ $i -lt 4 ]; do i=$((i+1)); if [ $i -eq 2 ]; then continue; fi; a "
      "$i; done",
      "a|1; a|3; a|4" },
    { "for i in 1 2; do if [ -f x ]; then continue; fi; a $i; x=$i; done; b $x",
      "~a|1; ~a|2; b|?$x" },
    { "n=0; while true; do n=$((n+1)); if [ -f x ]; then break; fi; m=1; done; a $n $m",
      "a|?$n|?$m" },
    { "if [ -f x ]; then for i in 1 2; do break; a; done; fi; b", "b" },
    { "while true; do a; done; b", "a; b" },
    { "until false; do a; done; b", "a; b" },
    { "f() { a $1; return; b; }\nf 1; c", "a|1; c" },
    { "f() { for i in 1 2; do return 0; done; a; }\nf && b", "b" },
    { "f() { return 1; }\nif f; then a; else b; fi", "b" },
    { "f() { if [ -f x ]; then return; fi; n=8; }\nn=4; f; a $n", "a|?$n" },
    { "f() { [ $1 = h ]; }\nif f h; then a; fi; f g || b", "a; b" },
    { "f() { local n=4 m; k=5; a $n \"$m\"; }\nn=8 m=7; f; a $n $m $k",
      "a|4|; a|8|7|5" },
    { "f() { declare n=4; typeset -g m=5; }\nn=8; f; a $n $m", "a|8|5" },
    { "( n=4; exit 0; a ); b $n", "b|?$n" },
    { "n=1; ( n=4; cd x; a $n ); b $n", "a|4; b|1" },
    { "n=1; bash -c 'n=2; a $n; exit'; b $n", "bash|-c|n=2; a $n; exit; a|2; b|1" },
    { "ssh h 'cd x && a b=c'", "ssh|h|cd x && a b=c; a|b=c" },
    { "pdsh -w h[1-2] \"a b\"", "pdsh|-w|h[1-2]|a b; a|b" },
    { "c=\"srun bash -c '\n a b\n c' | tee d\"; eval ${c}",
      "eval|srun|bash|-c|'|a|b|c'|||tee|d; srun|bash|-c| a b c; a|b|c; tee|d" },
    { "bash -c 'a $0 $1' x y", "bash|-c|a $0 $1|x|y; a|?$0|y" },
    { "if [ -f x ]; then f() { a; }; else f() { b; }; fi; f", "~b" },
    { "exec a b; c", "exec|a|b" },
    { "f() ( n=5; a $n ); n=1; f; b $n", "a|5; b|1" },
    { "run-it() { a $1; }; run-it 4; b", "a|4; b" },
    { "n=4; trap 'n=8' USR1; a $n; m=1; trap 'm=2; c' EXIT; b $m", "a|?$n; b|1" },
    { "f() { n=8; c; }; n=4; trap f INT TERM; a $n; trap - INT; b", "a|?$n; b" },
    /* parts of a pipeline, and what runs in the background, are processes of their own */
    { "n=1; echo 5 | read n; a $n", "echo|5; a|1" },
    { "n=1; a | while read n; do m=$n; done; b $n $m", "a; b|1|?$m" },
    { "n=1; f() { n=5; }; f | b; a $n; n=2; c | f; a $n", "b; a|?$n; c; a|2" },
    { "n=1; f() { n=5; }; f & a $n; n=2 b & c $n", "a|?$n; b; c|?$n" },
    { "n=1; m=2 a $n & b $n $m", "a|1; b|1|?$m" },
    /* scripts that are given as texts */
    { "n=4; bash <<E\na $n \\$m\nE\nb", "bash; a|4|?$m; b" },
    { "cat <<'E' | sbatch -N 2\n#!/bin/bash\na $n\nE\n", "cat; sbatch|-N|2; a|?$n" },
    { "sbatch --wrap \"a b\"; sbatch -N2 --wrap='c d'", "sbatch|--wrap|a b; a|b; "
                                                        "sbatch|-N2|--wrap=c d; c|d" },
    { "echo 'a b' | ssh h bash -s; bash -x <<< 'n=1; c $n'; d $n",
      "echo|a b; ssh|h|bash|-s; a|b; bash|-x; c|1; d|?$n" },
    { "srun -N 2 bash <<E\na\nE\n", "srun|-N|2|bash; a" },
    { "case abc in a*) a;;& *c) b;; *) c;; esac", "a; b" },
    /* what is unset, read, or gone over so many times as nobody knows */
    { "n=8; unset n; a \"$n\" ${n:-4} ${n-5}", "a||4|5" },
    { "n=8; if [ -f x ]; then unset n; fi; a $n", "a|?$n" },
    { "declare -A m=([p]=1); unset m[p]; a ${m[p]}", "a|?${m[...]}" },
    { "n=8; read n; a $n", "a|?$n" },
    { "read -r n m <<< \"4 5 6\"; a $n \"$m\"", "a|4|5 6" },
    { "IFS=',' read -ra g <<< \"0,1,2,3\"; a ${#g[@]} ${g[3]}; x='1 2'; b $x",
      "a|4|3; b|1|2" },
    { "IFS=: read h p <<< n1:99; read x y <<< 'c d'; a $h $p $x $y", "a|n1|99|c|d" },
    { "read -r -d '' c <<E\n b.c \\\n  --x 4\nE\na $c", "a|b.c|--x|4" },
    { "g=(1 2); mapfile -t g < f; a ${g[0]}", "a|?$g" },
    { "export \"x=1 2\" y=3; declare \"z=4\"; a \"$x\" $y $z", "a|1 2|3|4" },
    { "declare -n r=x; x=3; a $r; declare -i k=1+2 j=5; b $k $j", "a|3; b|3|5" },
    /* what is declared: whole numbers, other names; and $[ ] */
    { "declare -i n=10; n+=2; n=n*2+$z; a $n; unset n; n+=1; n+=2; b $n",
      "a|?$z; b|12" },
    { "declare -i n; n+=4; n=n*2; a $n; f() { local -i k=$1; k+=1; b $k; }; f 8",
      "a|8; b|9" },
    { "f() { local -n r=$1; r=$((r * 2)); }; x=7; f x; a $x; r=1; b $r", "a|14; b|1" },
    { "declare -n r=x; r=(1 2); unset -n r; r=3; a ${x[1]} $r; declare -n y=1; b $y",
      "a|2|3; b|?$y" },
    { "x=4; a $[x + 1] --b=$[ 2*$x ]", "a|5|--b=8" },
    { "x=(1 2 3); x[1]=7; x[3]=8; a ${x[@]}; x[1]+=9; b ${x[0]}", "a|1|7|3|8; b|?$x" },
    { "printf -v n '%02d' 4; a $n", "a|?$n" },
    { "n=0; for x in $(ls); do n=$((n+1)); a $x; done; b $n", "a|?$(ls); b|?$n" },
    { "n=0; for x in d/*.json; do n=$((n+1)); done; b $n", "b|?$n" },
    { "n=0; while read -r h; do n=$((n+1)); done < hosts; a $n", "a|?$n" },
    { "n=8; while [ $k -lt 2 ]; do n=4; a $n; done; b $n", "a|4; b|?$n" },
    { "n=0; while true; do n=$((n+1)); done; a $n", "a|?$n" },
    { "n=8; select n in 4 8; do break; done; a $n", "a|?$n" },
    { "[[ 1 -eq 1 ]]; a $?; false; a $?", "a|0; a|1" },
    /* arguments */
    { "set -e -o pipefail; set -- b \"c d\" e; a $# $1 \"$2\" \"$@\"; shift 2; a $# $1",
      "a|3|b|c d|b|c d|e; a|1|e" },
    { "set -- b c d; a ${@:2} ${@:1:1} \"${*}\"", "a|c|d|b|b c d" },
    { "set -- b; shift; a \"$1\" $#; shift || c", "a||0; c" },
    { "set -- --n 4 --m; while [ $# -gt 0 ]; do case $1 in --n) n=$2; shift 2;; --m) "
      "m=1; shift;; *) shift;; esac; done; a $n $m",
      "a|4|1" },
    { "set -- --n=4 x; for i in \"$@\"; do case $i in --n=*) n=${i#*=};; *) r=$i; "
      "esac; done; a $n $r",
      "a|4|x" },
    { "set -- b c; for i; do a $i; done", "a|b; a|c" },
    { "set -- -n 4 -vq -m5 x; while getopts 'n:vqm:' o; do case $o in n) n=$OPTARG;; "
      "v) "
      "v=1;; q) q=1;; m) m=$OPTARG;; esac; done; shift $((OPTIND-1)); a $n $v $q $m $1",
      "a|4|1|1|5|x" },
    { "n=8; while getopts 'n:' o; do case $o in n) n=$OPTARG;; esac; done; shift "
      "$((OPTIND - 1)); a $n $1",
      "a|8|?$1" },
    { "set -- --nodes 8 -v x --gpus=2 'p q'; O=$(getopt -o n:v --long nodes:,gpus: "
      "--name s -- \"$@\"); eval set -- \"$O\"; while true; do case $1 in -n|--nodes) "
      "n=$2; shift 2;; --gpus) g=$2; shift 2;; -v) v=1; shift;; --) shift; break;; "
      "esac; done; a $n $g $v $1 \"$2\"",
      "eval|set|--| '--nodes' '8' '-v' '--gpus' '2' --  'x' 'p q'; a|8|2|1|x|p q" },
    { "n=4; O=$(getopt -o n: -l nodes: -- \"$@\"); eval set -- \"$O\"; while [ $1 != "
      "-- "
      "]; do n=$2; shift 2; done; shift; a $n $1",
      "eval|set|--|? -- $@; a|4|?$1" },
    { "set -- -x; O=$(getopt n: \"$@\"); a \"$O\"", "a|?$(getopt n: \"$@\")" },
    { "n=$1; shift; m=$1; shift 2; a $n $m $1", "a|?$1|?$2|?$4" },
    { "n=8; while [ $# -gt 0 ]; do n=$2; shift 2; done; a $n", "a|8" },
    { "while (($#)); do n=$2; shift 2; done; a ${n:-8}", "a|8" },
    { "if [ -f x ]; then shift; fi; a $1", "a|?$@" },
    { "f() { a $# \"$2\" $1; shift; a $1; }\nf b c; f d", "a|2|c|b; a|c; a|1||d; a" },
    { "f() { a $1 $2 $3; }\nf x \"$@\"; set -- p q; f x \"$@\"",
      "a|x|?$1|?$2; a|x|p|q" },
    { "f() { set -- 1 2; g $1; a $2; }\ng() { a $1 \"$2\"; }\nf", "a|1|; a|2" },
    { "if [ $# -eq 0 ]; then n=1; fi; a $n", "a|?$n" },
    { "x=(b c d e); a ${x[@]:1:2} \"${x[@]:2}\"", "a|c|d|d|e" },
    { "test 1 = 1 && a; x=(b c); x+=d; a ${x[@]}", "a; a|bd|c" },
    /* texts within texts */
    { "c='a b'; eval \"$c d\"", "eval|a b d; a|b|d" },
    { "x='b \"c d\"'; bash -c \"a $x\"", "bash|-c|a b \"c d\"; a|b|c d" },
    /* edits */
    { "x=a/b.c; a ${x##*/} ${x%.c} ${x#*/} ${x%%/*}", "a|b.c|a/b|b.c|a" },
    { "x=a-b-a; a ${x/a/c} ${x//a/c} ${x//-} ${x:2:1} ${x: -1} ${#x}",
      "a|c-b-a|c-b-c|aba|b|a|5" },
    { "x=Ab; a ${x,,} ${x^^} ${x^}", "a|ab|AB|Ab" },
    { "x=$y.c; a ${x%.c} ${x%.d}", "a|?$y|?${...}" },
    { "x=--b=$y; a ${x#*=} ${x##*=}", "a|?$y|?${...}" },
    { "x=--b=$y; if [[ $x == --c* ]]; then a; elif [[ $x == --b* ]]; then b; fi", "b" },
    { "x=--b=$y; if [ $x = --bc ]; then a; else b; fi", "b" },
    { "while [ $# -gt 0 ]; do z=$1; shift; done; if [ \"$z\" = on ]; then a; fi; b $z",
      "b|?$z" },
    { "f() { for i in $*; do a $i; done; }; f x $y z $*", "a|x; a|?$y; a|z" },
    { "x=b; b=c; a ${!x}", "a|c" },
    /* associative arrays */
    { "declare -A m\nm[p]=1\nm[\"q r\"]=2\nk=p\na ${m[p]} ${m[$k]} ${m[q r]} ${m[z]} "
      "${#m[@]}",
      "a|1|1|2|2" },
    { "declare -A m=([p]=1 [q]=\"2 3\")\na \"${m[q]}\" ${!m[@]}", "a|2 3|q|p" },
    { "declare -A m=([p]=1 [q]=2)\nfor k in \"${!m[@]}\"; do a $k=${m[$k]}; done",
      "a|q=2; a|p=1" },
    /* bash's order of keys: by their hashes */
    { "declare -A m=([a]=1 [b]=2 [c]=3)\na ${!m[@]} ${m[@]}", "a|c|b|a|3|2|1" },
    { "declare -A m=([p]=1)\nm[p]=5\nm[s]=$y\na ${m[p]} ${m[s]}", "a|5|?$y" },
    { "declare -A m=([p]=1)\nif f; then m[p]=2; fi\na ${m[p]}", "f; a|?$m" },
    { "x=(b c d)\ni=1\na ${x[$i]} ${x[$((i+1))]} ${x[i+1]}", "a|c|d|d" },
    /* what commands print of their words */
    { "d=0,1,2; a $(echo $d | awk -F',' '{print NF}') $(which swift) sft",
      "a|3|swift|sft" },
    { "x=d/e.sh; a $(basename $x .sh) $(dirname $x) `basename $x` $(echo b $x)",
      "a|e|d|e.sh|b|d/e.sh" },
    { "a $(seq 2 4) $(expr 3 \\* 4) $(echo \"8 * 4\" | bc)", "a|2|3|4|12|32" },
    { "x=0,1,2; a $(echo $x | awk -F',' '{print NF}') $(awk -F , '{print NF}' <<< 7,9)",
      "a|3|2" },
    { "a $(echo '' | awk -F',' '{print NF}') $(echo p q r | awk '{print NF}')",
      "a|0|3" },
    { "x=0,1,2; a $(echo $x | tr ',' '\\n' | wc -l) $(echo b-c | cut -d- -f2)",
      "a|3|c" },
    { "x='  8 '; a $(printf '%s' \"$x\" | tr -d '[:space:]') $(echo Ab-c | tr a-z A-Z) "
      "$(tr "
      "'[:upper:]' '[:lower:]' <<< LLaMA) $(echo 1:2 | tr : '\\n')",
      "a|8|AB-C|llama|1|2" },
    { "x='b \\\n  c   d'; a \"$(echo \"$x\" | tr '\\n' ' ' | sed 's/  \\+/ /g')\"",
      "a|b \\ c d" },
    { "a $(echo a-b-c | sed 's/-/+/') $(echo a--b | sed -e 's|-*b|c|') $(echo x/y | "
      "sed "
      "'s#/#.#g')",
      "a|a+b-c|ac|x.y" },
    { "a $(echo b | sed 's/[a-z]/x/') $(echo b | sed -n 1p)",
      "a|?$(echo b | sed 's/[a-z]/x/')|?$(echo b | sed -n 1p)" },
    /* statements whose commands print alone */
    { "n=2; a $(if [ $n -gt 1 ]; then echo --b $n; else echo c; fi) $([ $n -gt 2 ] && "
      "echo $((n * 2)) || echo 1)",
      "a|--b|2|1" },
    { "f() { if [ \"$1\" = d ]; then printf '%s\\n' e; return; fi; echo g >&2; echo h; "
      "}\na $(f d) $(f k) `case $(f d) in e) echo l;; esac`",
      "a|e|h|l" },
    { "f() { echo b; hostname; }\na $(f)", "a|?$(f)" },
    { "f() { mkdir -p /x; dirname $1; }\na $(f /b/c)/d", "a|/b/d" },
    { "f() { python3 -c 'import os; print(os.getcwd())'; }\na $(f)", "a|?$(f)" },
    { "a $(if [ $y = 1 ]; then echo b; fi)", "a|?$(if [ $y = 1 ]; then echo b; fi)" },
    { "n=1; cat <<E >f.sh\na $(if [ $n = 1 ]; then echo b; fi)\nE\nbash f.sh",
      "cat; bash|f.sh; a|b" },
    { "if [ $y = 1 ] && [ 1 -gt 2 ]; then a; else b; fi", "b" },
    { "if [ $y = 1 ] || [ 2 -gt 1 ]; then a; else b; fi", "a" },
    { "x=(p q); a \"$(printf $\"+ %s\\n\" \"${x[@]}\")\" $(printf '%d:%s' 3 k)",
      "a|+ p\n+ q|3:k" },
    { "a $(printf '%5s' k) $(printf '%d' k)",
      "a|?$(printf '%5s' k)|?$(printf '%d' k)" },
    { "a $(date) $(echo $y) $(ls | wc -l)", "a|?$(date)|?$(echo $y)|?$(ls | wc -l)" },
    { "n=$(nvidia-smi -L | wc -l)\na $n $((n * 2))",
      "a|?$(nvidia-smi -L | wc -l)|?$(nvidia-smi -L | wc -l)" },
    { "x=b; srun -l bash -c 'a $x \\$y'", "srun|-l|bash|-c|a $x \\$y; a|b|$y" },
    { "srun -l bash -x -c \"a; b c\"", "srun|-l|bash|-x|-c|a; b c; a; b|c" },
    { "bash -c 'exit 1'; a", "bash|-c|exit 1; a" },
    { "f() { f; }; a", "a" },
    /* documents within what is not read yet, or not at all */
    { "f() {\ncat <<EOF\nit's {\nEOF\n}\na", "a" },
    { "if false; then\ncat <<-'E X'\nfi\n\tE X\nb\nfi\na", "a" },
    { "f() {\ncat <<E\nx\nE\nb\n}\nf\na", "cat; b; a" },
};

static int read_text(struct shell *s, struct arena *arena, const char *text,
                     struct err *err)
{
    arena_init(arena);
    return shell_read(s, NULL, arena, text, strlen(text), NULL, 0, err);
}

static void test_commands(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena;
        struct shell s;
        struct err err = { 0 };
        char text[2000];
        CU_ASSERT(read_text(&s, &arena, cases[i].text, &err) == 0);
        show(text, sizeof(text), &s);
        CU_ASSERT_STRING_EQUAL(text, cases[i].commands);
        if (strcmp(text, cases[i].commands) != 0)
            fprintf(stderr, "%s\n    gives %s (%s)\n", cases[i].text, text, err.text);
        shell_release(&s);
        arena_release(&arena);
    }
}

/* --- where the script is ------------------------------------------------------ */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

/* Files that are sourced lie next to the script or above it, and may name others; how
 * many GPUs there are is the setting's to say. */
static void test_setting(void)
{
    static const struct {
        const char *text, *commands;
    } rows[] = {
        { "source env.sh\na $N $M", "a|4|5" },
        { ". \"$(dirname \"$0\")/env.sh\"\na $N", "a|4" },
        { "D=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\nsource $D/env.sh\na $D "
          "$N",
          "a|.|4" },
        { "source `pwd`/sub/in.sh\na $K", "a|7" },
        { "cd sub\nsource in.sh\na $PWD/$K", "a|sub/7" },
        { "source above.sh\na $U", "a|9" },
        { "source none.sh\nsource $Q/env.sh\na $N", "a|?$N" },
        { "source loop.sh\na $L", "a|1" },
        { "cat > made.sh <<E\nX=3\nE\nsource made.sh\na $X", "cat; a|3" },
        { "source other.sh\na $O", "a|8" },
        { "bash sub/run.sh 4 x; a $K $1", "bash|sub/run.sh|4|x; b|4|2|x; a|?$K|?$1" },
        { "srun -N 2 --label sub/run.sh 8", "srun|-N|2|--label|sub/run.sh|8; b|8|1" },
        { "./sub/run.sh \"$@\"", "./sub/run.sh|?$@; b|?$1|?$#|?$2" },
        { "source sub/args.sh 5; a $A $1", "a|5|?$1" },
        { "set -- 6; source sub/args.sh; a $A $1", "a|6|6" },
        { "echo x=1 > m.sh; echo y=2 >> m.sh; source m.sh; a $x $y",
          "echo|x=1; echo|y=2; a|1|2" },
        { "a $(nvidia-smi -L | wc -l) $(nvidia-smi --query-gpu=name "
          "--format=csv,noheader | wc "
          "-l) $(python -c 'import torch; print(torch.cuda.device_count())')",
          "a|8|8|8" },
        { "a $(python -c \"import torch; print('x' if torch.cuda.is_bf16_supported() "
          "else "
          "'y')\")",
          "a|y" },
    };
    static const struct source_file other = { "d/other.sh", "O=8\n", 1 };
    char dir[] = "/tmp/smsim-shell-XXXXXX", path[80], script[80];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    static const struct {
        const char *name, *text;
    } files[] = { { "up/env.sh", "N=4\nsource ./more.sh\nexit 0\n" },
                  { "up/more.sh", "M=5\n" },
                  { "up/sub/in.sh", "K=7\n" },
                  { "above.sh", "U=9\n" },
                  { "up/loop.sh", "L=1\nsource loop.sh\n" },
                  { "up/sub/run.sh", "K=1\nb $1 $# $2\nexit 0\n" },
                  { "up/sub/args.sh", "A=$1\nreturn 0\nA=9\n" } };
    snprintf(path, sizeof(path), "%s/up", dir);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/up/sub", dir);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
        write_file(path, files[i].text);
    }
    snprintf(script, sizeof(script), "%s/up/run.sh", dir);
    const struct shell_setting in = {
        .file = script, .gpus = 8, .arch = 75, .files = &other, .n_files = 1
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena;
        struct shell s;
        struct err err = { 0 };
        char text[2000];
        arena_init(&arena);
        CU_ASSERT(shell_read(&s, &in, &arena, rows[i].text, strlen(rows[i].text), NULL,
                             0, &err) == 0);
        show(text, sizeof(text), &s);
        CU_ASSERT_STRING_EQUAL(text, rows[i].commands);
        if (strcmp(text, rows[i].commands) != 0)
            fprintf(stderr, "%s\n    gives %s (%s)\n", rows[i].text, text, err.text);
        shell_release(&s);
        arena_release(&arena);
    }
    for (size_t i = COUNT(files); i-- > 0;) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
        remove(path);
    }
    snprintf(path, sizeof(path), "%s/up/sub", dir);
    rmdir(path);
    snprintf(path, sizeof(path), "%s/up", dir);
    rmdir(path);
    rmdir(dir);
}

/* --- why, where, files, what is given --------------------------------------------- */

static void test_whys(void)
{
    static const struct {
        const char *text, *why; /* of the last word of the last command */
    } whys[] = {
        { "a $X", "$X is not set in the script (--set /shell/X=VALUE gives it)" },
        { "a $3", "$3 is an argument of the script (--set /shell/3=VALUE gives it)" },
        { "x=$(date +%s); y=$x; a $y", "$(date +%s) is a command" },
        { "a $((n + 1))",
          "$((...)) needs $n, which is not set in the script (--set /shell/n=VALUE "
          "gives it)" },
        { "if [ $1 = b ]; then x=1; fi; a $x",
          "$x is set under a condition ($1 is an argument of the script (--set "
          "/shell/1=VALUE gives it))" },
    };
    for (size_t i = 0; i < COUNT(whys); i++) {
        struct arena arena;
        struct shell s;
        struct err err = { 0 };
        CU_ASSERT(read_text(&s, &arena, whys[i].text, &err) == 0);
        CU_ASSERT_FATAL(s.commands.n > 0);
        const struct shell_command *c = &s.commands.v[s.commands.n - 1];
        CU_ASSERT_PTR_NOT_NULL_FATAL(c->words[c->n - 1].why);
        CU_ASSERT_STRING_EQUAL(c->words[c->n - 1].why, whys[i].why);
        CU_ASSERT(c->words[c->n - 1].whole);
        shell_release(&s);
        arena_release(&arena);
    }
}

/* A value is where it was written, not where it is used. */
static void test_places(void)
{
    struct arena arena;
    struct shell s;
    struct err err = { 0 };
    CU_ASSERT(read_text(&s, &arena, "x=1\nA=\" --n 2 \\\n  --m $x\"\nrun $A\n", &err) ==
              0);
    CU_ASSERT_FATAL(s.commands.n == 1 && s.commands.v[0].n == 5);
    const struct shell_word *w = s.commands.v[0].words;
    CU_ASSERT(w[0].line == 4 && w[1].line == 2 && w[3].line == 3);
    CU_ASSERT(w[2].column == 9 && w[4].line == 1 && w[4].column == 3);
    shell_release(&s);
    arena_release(&arena);
}

static void test_files(void)
{
    /* what a command changes that is not run is not there any more, and said */
    static const char changed[] =
        "echo '{}' > a.json; tee b.json <<E\n{ \"b\": 1 }\nE\ncat <<E | tee c.yaml\nc: "
        "1\nE\nsed -i 's/1/2/' b.json\npython make.py > d.yaml 2> log\ncp e.json "
        "a.json";
    static const char text[] =
        "n=2\ncat <<EOT > c.$JOB.json\n{ \"a\": $n,\n \"b\": $m "
        "}\nEOT\necho \"{}\" > d.json\ncat <<'E' >e\n$n\nE\ncat <<E > y.yml\na: "
        "$n-$m\nb: $(c)\nE\nrun\n";
    struct arena arena;
    struct shell s;
    struct err err = { 0 };
    CU_ASSERT(read_text(&s, &arena, text, &err) == 0);
    CU_ASSERT_FATAL(s.files.n == 4);
    CU_ASSERT_STRING_EQUAL(s.files.v[0].name, "c.$JOB.json");
    CU_ASSERT_STRING_EQUAL(s.files.v[0].text, "{ \"a\": 2,\n \"b\": null }\n");
    CU_ASSERT(s.files.v[0].line == 3);
    CU_ASSERT_STRING_EQUAL(s.files.v[1].text, "{}");
    CU_ASSERT_STRING_EQUAL(s.files.v[2].text, "$n\n");
    CU_ASSERT_STRING_EQUAL(s.files.v[3].text,
                           "a: 2-${oc.env:m}\nb: ${oc.env:a command}\n");
    CU_ASSERT_STRING_EQUAL(s.commands.v[s.commands.n - 1].words[0].text, "run");
    shell_release(&s);
    arena_release(&arena);
    CU_ASSERT(read_text(&s, &arena, changed, &err) == 0);
    CU_ASSERT_FATAL(s.files.n == 1 && s.notes.n == 3);
    CU_ASSERT_STRING_EQUAL(s.files.v[0].name, "c.yaml");
    CU_ASSERT_STRING_EQUAL(s.files.v[0].text, "c: 1\n");
    CU_ASSERT_STRING_EQUAL(s.notes.v[0].text,
                           "b.json is changed by sed, which is not run");
    CU_ASSERT_STRING_EQUAL(
        s.notes.v[1].text,
        "d.yaml is changed by python, which is not run: it is read as it lies there");
    shell_release(&s);
    arena_release(&arena);
}

static void test_given(void)
{
    static const struct shell_given given[] = {
        { "N", "4", 0, true },
        { "M", "5", 0, false },
        { "@", "x y", 0, true },
    };
    static const char text[] = "N=8\nM=9\nrun $N $M $2 $# $@\nshift\nrun $1\nset -- "
                               "z\nrun $1 $#\n";
    static const struct shell_given second[] = { { "2", "y", 0, true } };
    static const char some[] = "run $1 $2 $3 $#; shift; run $1 $2 $@";
    struct arena arena;
    struct shell s;
    struct err err = { 0 };
    char shown[1000];
    arena_init(&arena);
    CU_ASSERT(shell_read(&s, NULL, &arena, text, sizeof(text) - 1, given, 3, &err) ==
              0);
    show(shown, sizeof(shown), &s);
    CU_ASSERT_STRING_EQUAL(shown, "run|4|9|y|2|x|y; run|y; run|z|1");
    shell_release(&s);
    arena_release(&arena);
    arena_init(&arena);
    CU_ASSERT(shell_read(&s, NULL, &arena, some, sizeof(some) - 1, second, 1, &err) ==
              0);
    show(shown, sizeof(shown), &s);
    CU_ASSERT_STRING_EQUAL(shown, "run|?$1|y|?$3|?$#; run|y|?$3|y|?$@");
    shell_release(&s);
    arena_release(&arena);
}

static void test_directives(void)
{
    struct arena arena;
    arena_init(&arena);
    struct raw_shell w = shell_directives(
        &arena, "#!/bin/sh\n#SBATCH --nodes=4 -N 2 # four\n##SBATCH --x\n#SBATCH --y");
    CU_ASSERT_FATAL(w.n == 4);
    CU_ASSERT_STRING_EQUAL(w.v[0].text, "--nodes=4");
    CU_ASSERT(w.v[0].line == 2 && w.v[0].column == 9);
    CU_ASSERT_STRING_EQUAL(w.v[2].text, "2");
    CU_ASSERT(w.v[3].line == 4);
    arena_release(&arena);
}

/* --- what is refused -------------------------------------------------------------- */

static void test_refusals(void)
{
    static const struct {
        const char *text;
        int line, column;
        const char *error;
    } refusals[] = {
        { "a\nb 'c", 2, 3, "the quote is never closed (add a ')" },
        { "x=\"$y", 1, 3, "the quote is never closed (add a \")" },
        { "x=(a\nb", 1, 3, "the array is never closed (add a ))" },
        { "a $(b", 1, 3, "the command is never closed (add a ))" },
        { "a `b", 1, 3, "the command is never closed (add a `)" },
        { "a ${b", 1, 3, "the bracket is never closed (add a })" },
        { "a $((1 + 2)", 1, 5, "the arithmetic is never closed (add ))" },
        { "if [ 1 = 1 ]; then\na\n", 1, 1, "this \"if\" is never closed (add \"fi\")" },
        { "for x in a; do b", 1, 1, "this \"loop\" is never closed (add \"done\")" },
        { "f() {\na\n", 1, 1, "this \"function\" is never closed (add \"}\")" },
    };
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct arena arena;
        struct shell s;
        struct err err = { 0 };
        CU_ASSERT(read_text(&s, &arena, refusals[i].text, &err) == -1);
        CU_ASSERT(err.line == refusals[i].line && err.column == refusals[i].column);
        CU_ASSERT_STRING_EQUAL(err.text, refusals[i].error);
        if (strcmp(err.text, refusals[i].error) != 0)
            fprintf(stderr, "%s\n    gives %s\n", refusals[i].text, err.text);
        shell_release(&s);
        arena_release(&arena);
    }
}

/* Repeated to a long text, none of these takes long or deep, or more than it may. */
static void test_limits(void)
{
    static const struct {
        const char *head, *piece;
        int times;
    } limits[] = {
        { "x=aaaaaaaa\n", "x=\"$x$x\"\n", 20000 },
        { "x=(a)\n", "x+=(${x[@]})\n", 2000 },
        { "", "${x:-", 40000 },
        { "", "$(", 100000 },
        { "", "$((", 60000 },
        { "", "( ", 100000 },
        { "", "if a; then ", 20000 },
        { "", "x=1\n", 60000 },
        { "f() { f; f; }\nf\n", "", 1 },
        { "x=y\ny=x\n", "a $((x))\n", 20000 },
        { "x='eval $x $x'\n", "eval $x\n", 100 },
        { "", "a 'b' \"c\" ", 20000 },
        { "", "<a", 100000 },
        { "a ", "[", 200000 },
        { "", "case a in b) ", 15000 },
        { "", "! ", 100000 },
        { "", "cat <<E\n", 30000 },
        { "while [ 1 = 1 ]; do a; done", "", 1 },
        { "x=1; a $((", "-", 200000 },
        { "a $((", "(", 200000 },
        { "", "for i in a a a a a a a a; do\n", 12 },
        { "x=1\n", "( x=2\n", 30 },
        { "", "( a )\n", 30000 },
        { "f() { local x=1 y=2 z=3; }\n", "f\n", 20000 },
        { "set -- a b c\n", "set -- \"$@\" \"$@\"\n", 100 },
        { "", "shift 9999\n", 20000 },
        { "set -- -abcdefgh\n", "getopts abc:d o\n", 20000 },
        { "", "read x y <<< \"a b c\"\n", 20000 },
        { "", "echo x >> f\n", 1500 },
        { "a ", "{a,b}", 200 },
        { "a ", "{", 100000 },
        { "a ", "{a,", 20000 },
        { "", "a {1..8000} {-8000..0}\n", 2000 },
        { "x=a", "[a", 40000 },
        { "case aaaaaaaaaaaaaaaa in ", "*[a-z]", 30000 },
        { "", "x=1 y=2 z=3 a $x\n", 8000 },
        { "", "a | b | ", 20000 },
        { "", "trap 'trap \"x=1\" INT' TERM\n", 5000 },
        { "set -- -abcd x\n", "x=$(getopt -o a:bc -- \"$@\")\n", 5000 },
    };
    for (size_t i = 0; i < COUNT(limits); i++) {
        size_t head = strlen(limits[i].head), n = strlen(limits[i].piece);
        size_t len = head + n * (size_t)limits[i].times;
        char *text = malloc(len + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        memcpy(text, limits[i].head, head + 1);
        for (int j = 0; j < limits[i].times; j++)
            memcpy(text + head + n * (size_t)j, limits[i].piece, n + 1);
        struct arena arena;
        struct shell s;
        struct err err = { 0 };
        arena_init(&arena);
        int rc = shell_read(&s, NULL, &arena, text, len, NULL, 0, &err);
        CU_ASSERT((rc == -1) == err.set);
        CU_ASSERT(s.commands.n <= SHELL_COMMANDS_MAX);
        shell_release(&s);
        arena_release(&arena);
        free(text);
    }
}

/* Brackets that do not end cost their length, however often their word is read: once
 * they cost its square. */
static void test_open_brackets(void)
{
    static const char head[] = "for i in {1..60}; do a ", tail[] = "; done";
    enum { BRACKETS = 100000 };
    struct strbuf text;
    struct arena arena;
    struct shell s;
    struct err err = { 0 };
    strbuf_init(&text);
    strbuf_addstr(&text, head);
    for (int i = 0; i < BRACKETS; i++)
        strbuf_addch(&text, '{');
    strbuf_addstr(&text, tail);
    clock_t start = clock();
    CU_ASSERT(read_text(&s, &arena, strbuf_get(&text), &err) == -1);
    CU_ASSERT(clock() - start < (clock_t)10 * CLOCKS_PER_SEC);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "takes too long"));
    shell_release(&s);
    arena_release(&arena);
    strbuf_release(&text);
}

/* A script with one piece cut out or put in, at every place: reading ends, with an
 * error or without. */
static void test_mutations(void)
{
    static const char seed[] =
        "#SBATCH --nodes=2\nN=${N:-8} # GPUs\nA=(--x \"$N\" $((N * 2)))\nif [[ $N -gt "
        "1 "
        "&& -z \"$Y\" ]]; then\nA+=(--y); elif [ $1 = b ]; then exit 1\nelse B=\"$B "
        "c\"; "
        "fi\ncat <<EOT > f.$J\n{ \"a\": $N }\nEOT\ncase $N in 4|8) C=`d` ;; *) C=e ;; "
        "esac\nf() { run \"$@\"; }\nfor i in 1 2; do f $i; done\nsrun bash -c \"g $C "
        "${A[@]}\" 2>&1 | tee h\nnohup \"\" '' sh\n";
    static const char *const pieces[] = { "$",  "${", "$((", "\"", "'",  "(",  ")",
                                          "\n", ";",  "`",   "<<", "fi", "\\", "#" };
    for (size_t at = 0; at < sizeof(seed) - 1; at += (size_t)sample_every())
        for (size_t i = 0; i <= COUNT(pieces); i++) {
            char text[sizeof(seed) + 8];
            const char *piece = i < COUNT(pieces) ? pieces[i] : "";
            size_t rest = at + (i == COUNT(pieces)); /* the last: a byte is cut */
            snprintf(text, sizeof(text), "%.*s%s%s", (int)at, seed, piece, seed + rest);
            struct arena arena;
            struct shell s;
            struct err err = { 0 };
            int rc = read_text(&s, &arena, text, &err);
            CU_ASSERT((rc == -1) == err.set);
            shell_release(&s);
            arena_release(&arena);
        }
}

void test_shell_register(void)
{
    CU_pSuite suite = CU_add_suite("shell", NULL, NULL);
    CU_add_test(suite, "words of commands", test_commands);
    CU_add_test(suite, "files and GPUs around it", test_setting);
    CU_add_test(suite, "why a piece is not known", test_whys);
    CU_add_test(suite, "places of values", test_places);
    CU_add_test(suite, "files that are written", test_files);
    CU_add_test(suite, "variables from outside", test_given);
    CU_add_test(suite, "lines #SBATCH", test_directives);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "open brackets", test_open_brackets);
    CU_add_test(suite, "broken texts", test_mutations);
}
