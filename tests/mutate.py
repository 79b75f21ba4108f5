#!/usr/bin/env python3
"""Which small faults the tests notice.

    tests/mutate.py N [--seed S] [--folders cost,step,...] [--suites a,b,...] [--minutes M] [--stale]

N faults are drawn: a comparison, an operator or a constant of a line that some test runs
is changed. Each is compiled, and the tests that reach its line (tests/reach.py: suites and
goldens) are run, the quickest first, until one fails; those beyond BUDGET_S of CPU are left
out. `make mutate N=40` builds what this needs: build/unit and build/smsim, whose objects are
linked again, and build/gcov, whose programs say what runs which line. Lines of
tests/mutants.txt are equivalents, each with its reason, and are not drawn. Survivors are
printed. With --suites only those suites are run, no goldens, and only lines that they run
are drawn: quicker, and what survives may die by others.
"""

import argparse
import hashlib
import random
import re
import subprocess
import sys
import time

from reach import BUILD, ROOT, SLOW_S, coverage, goldens, may_reach, passes, suites

WORK = BUILD / "mutate"
BUDGET_S = 20  # of CPU for the tests of one fault
FOLDERS = "cost,step,memory,search,engine"

SWAPS = [
    (r"(?<![<>=!-])<=(?!=)", ["<"]),
    (r"(?<![<>=!-])>=(?!=)", [">"]),
    (r"(?<![<>=!-])<(?![<=])", ["<=", ">="]),
    (r"(?<![<>=!-])>(?![>=])", [">=", "<="]),
    (r"==", ["!="]),
    (r"!=", ["=="]),
    (r"&&", ["||"]),
    (r"\|\|", ["&&"]),
    (r"(?<=[\w\)\]] )\+(?= [\w\(])", ["-"]),
    (r"(?<=[\w\)\]] )-(?= [\w\(])", ["+"]),
    (r"(?<=[\w\)\]] )\*(?= [\w\(])", ["/"]),
    (r"(?<=[\w\)\]] )/(?= [\w\(])", ["*"]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", ["constant"]),
    (r"(?<=[\(\s])!(?=[\w\(])", [""]),
]


def run(words, **named):
    return subprocess.run(words, cwd=ROOT, check=False, **named)


# Faults ---------------------------------------------------------------------------------


def code_only(line):
    """The line with strings, characters, comments and sizes of an array's first blanked."""
    blank = lambda found: " " * len(found.group())
    line = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', blank, line)
    line = re.sub(r"sizeof\(\w+\[0\]\)", blank, line)
    return re.sub(r"/\*.*?(\*/|$)|//.*", blank, line)


def constant(text, draw):
    if "." in text or "e" in text:
        return draw.choice([f"({text} * 2)", f"({text} * 1.1)"])
    value = int(text)
    return draw.choice([str(value + 1)] + ([str(value - 1)] if value else []))


def faults_of(file, covered, draw):
    """All (line number, new line, what) of a file."""
    found = []
    comment = False
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        code = code_only(line)
        if comment or code.lstrip().startswith(("#", "*")) or "/*" in line and "*/" not in line:
            comment = "*/" not in line and (comment or "/*" in line)
            continue
        if f"{file}:{number}" not in covered or "assert(" in code or "CONTRACT" in code:
            continue
        for pattern, news in SWAPS:
            for at in re.finditer(pattern, code):
                for new in news:
                    text = constant(at.group(), draw) if new == "constant" else new
                    found.append((number, line[: at.start()] + text + line[at.end() :], f"{at.group()} -> {text or 'nothing'}"))
    return found


def equivalents():
    """{(file, original line, new line)}: a row is `FILE | LINE | NEW LINE | reason`."""
    rows = set()
    path = ROOT / "tests/mutants.txt"
    for row in path.read_text().splitlines() if path.exists() else []:
        parts = [part.strip() for part in row.split(" | ")]
        if not row.startswith("#") and len(parts) >= 4:
            rows.add(tuple(parts[:3]))
    return rows


def draw_faults(count, folders, covered, seed):
    draw = random.Random(seed)
    known = equivalents()
    files = sorted(str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / "src" / folder).rglob("*.c"))
    every = []
    for file in files:
        text = (ROOT / file).read_text().splitlines()
        for number, new, what in faults_of(file, covered, draw):
            if (file, text[number - 1].strip(), new.strip()) not in known:
                every.append((file, number, text[number - 1], new, what))
    draw.shuffle(every)
    return every[:count], len(every)


# One fault ------------------------------------------------------------------------------


def commands():
    """How make compiles and links everything: {what it makes: command}."""
    text = run(["make", "-n", "-B", "build/unit", "build/smsim", "V=1"], stdout=subprocess.PIPE).stdout.decode()
    rows = text.replace("\\\n", " ").splitlines()
    return {found.group(1): row for row in rows if (found := re.search(r" -o (build/\S+) ", row))}


def compile_command(file, made):
    """To an object of its own, of a changed text."""
    line = made[f"build/{file[:-2]}.o"].replace(" -MMD -MP", "")
    return line.replace(f"-o build/{file[:-2]}.o {file}", f"-o {WORK}/mutant.o {WORK}/mutant.c -I{(ROOT / file).parent}")


def link_command(file, program, made):
    """build/unit or build/smsim with that object."""
    line = made[f"build/{program}"].replace(f"-o build/{program} ", f"-o {WORK}/{program} ")
    return line.replace(f"build/{file[:-2]}.o", f"{WORK}/mutant.o")


def quiet(command):
    try:
        return run(["sh", "-c", command], timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return 124


def judge(fault, covered, made):
    """What kills it; None: nothing; "invalid": it does not compile."""
    file, number, _, new, _ = fault
    lines = (ROOT / file).read_text().splitlines()
    lines[number - 1] = new
    (WORK / "mutant.c").write_text("\n".join(lines) + "\n")
    if quiet(compile_command(file, made)):
        return "invalid"
    linked, spent = set(), 0
    for test in covered[f"{file}:{number}"]:
        program = "unit" if test.startswith("unit/") else "smsim"
        if program not in linked and quiet(link_command(file, program, made)):
            return "invalid"
        linked.add(program)
        good, took = passes(test, WORK / "unit", WORK / "smsim", SLOW_S)
        if not good:
            return test
        spent += took
        if spent > BUDGET_S:
            break
    return None


def tests_of(args, folders, parser):
    """Names of the tests that may reach the folders."""
    every = suites()
    if not args.suites:
        return [f"unit/{name}" for name, path in every.items() if may_reach(path, folders)] + goldens()
    names = args.suites.split(",")
    unknown = set(names) - set(every)
    if unknown:
        parser.error(f"--suites: no suite is called {', '.join(sorted(unknown))}")
    return [f"unit/{name}" for name in names]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default=FOLDERS)
    parser.add_argument("--suites", help="all without it")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--stale", action="store_true", help="lines as they were kept, though tests were built since")
    args = parser.parse_args()
    folders = args.folders.split(",")
    WORK.mkdir(parents=True, exist_ok=True)
    names = tests_of(args, folders, parser)
    key = hashlib.sha256(f"{args.folders} {args.suites}".encode()).hexdigest()[:12]
    covered = coverage(folders, names, WORK / f"coverage-{key}.json", args.stale)
    faults, total = draw_faults(args.count, folders, covered, args.seed)
    print(f"{len(faults)} of {total} faults in {len(covered)} lines that tests run")
    killed, invalid, survivors, made = 0, 0, [], commands()
    end = time.time() + 60 * args.minutes
    for i, fault in enumerate(faults):
        if time.time() > end:
            print(f"stopped after {i} by --minutes")
            break
        by = judge(fault, covered, made)
        invalid += by == "invalid"
        killed += by not in (None, "invalid")
        if by is None:
            survivors.append(fault)
            print(f"{fault[0]}:{fault[1]}: survives {fault[4]}:\n    {fault[2].strip()}\n    {fault[3].strip()}", flush=True)
    valid = killed + len(survivors)
    print(f"mutate: {killed} of {valid} faults are noticed ({100 * killed / max(valid, 1):.0f} %), {invalid} do not compile; seed {args.seed}")
    return 0 if valid and killed >= 0.9 * valid else 1


if __name__ == "__main__":
    sys.exit(main())
