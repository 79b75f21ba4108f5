#!/usr/bin/env python3
"""Which small faults the unit tests notice.

    tests/mutate.py N [--seed S] [--folders cost,step,...] [--suites a,b,...] [--minutes M] [--golden]

N faults are drawn: a comparison, an operator or a constant of a line that some suite runs
is changed. Each is compiled, and the suites that run its line are run, the quickest first,
until one fails. `make mutate N=40` builds what this needs: build/unit, whose objects are
linked again, and build/gcov/unit, which says what runs which line. Lines of
tests/mutants.txt are equivalents, each with its reason, and are not drawn. Survivors are
printed; with --golden they are held against tests/golden.sh, too. With --suites only those
are run, and only lines that they run are drawn: quicker, and what survives may die by others.
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
WORK = BUILD / "mutate"
GCOV = BUILD / "gcov"
SLOW_S = 30  # a suite that takes more CPU time here is left out
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


def suites():
    """Names of all suites, from the tests."""
    names = []
    for path in sorted((ROOT / "tests/unit").glob("test_*.c")):
        text = path.read_text()
        names += re.findall(r'CU_add_suite\("([^"]+)"', text)
        names += re.findall(r'\{\s*"([^"]+)",\s*NULL,\s*NULL,\s*NULL,\s*NULL,\s*\w+', text)
    assert len(names) > 100, names
    return names


def cpu_s():
    """CPU time of the processes that have ended: what else the machine does is not in it."""
    times = os.times()
    return times.children_user + times.children_system


def environment(**more):
    return {**os.environ, "SMSIM": str(BUILD / "smsim"), "OMP_NUM_THREADS": "1", "SMSIM_DATA": str(ROOT), **more}


# Coverage -------------------------------------------------------------------------------


def lines_of(directory):
    """{file: lines that ran} of the .gcda under a directory."""
    data = [str(path) for path in directory.rglob("*.gcda")]
    for path in data:  # gcov wants the notes next to the counts
        notes = GCOV / Path(path).relative_to(directory).with_suffix(".gcno")
        os.symlink(notes, Path(path).with_suffix(".gcno"))
    ran = defaultdict(set)
    for at in range(0, len(data), 100):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run(["gcov", "--json-format", *data[at : at + 100]], cwd=out, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for found in Path(out).glob("*.gz"):
                for file in json.loads(gzip.open(found).read())["files"]:
                    name = file["file"]
                    ran[name] |= {row["line_number"] for row in file["lines"] if row["count"]}
    return ran


def coverage(folders, names):
    """{"file:line": [suites, the quickest first]}"""
    unit = GCOV / "unit"
    kept = WORK / ("coverage-" + hashlib.sha256(" ".join([*folders, *names]).encode()).hexdigest()[:12] + ".json")
    if kept.exists() and kept.stat().st_mtime > unit.stat().st_mtime:
        return json.loads(kept.read_text())
    by_line = defaultdict(list)
    for name in names:
        out = WORK / "gcda"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        start = cpu_s()
        strip = str(len(GCOV.parts) - 1)
        try:
            run([str(unit), name], timeout=10 * SLOW_S, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=environment(GCOV_PREFIX=str(out), GCOV_PREFIX_STRIP=strip))
        except subprocess.TimeoutExpired:
            continue
        took = cpu_s() - start
        for path in list(out.rglob("*.gcda")):
            if not any(f"src/{folder}/" in str(path) for folder in folders):
                path.unlink()
        for file, lines in lines_of(out).items():
            for line in lines:
                by_line[f"{file}:{line}"].append((took, name))
        print(f"\r{name:30} {took:5.1f} s", end="", file=sys.stderr)
    print("\r\033[K", end="", file=sys.stderr)
    result = {line: [name for took, name in sorted(rows) if took < SLOW_S] for line, rows in by_line.items()}
    kept.write_text(json.dumps(result))
    return result


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
    files = sorted(str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / "src" / folder).glob("*.c"))
    every = []
    for file in files:
        text = (ROOT / file).read_text().splitlines()
        for number, new, what in faults_of(file, covered, draw):
            if (file, text[number - 1].strip(), new.strip()) not in known:
                every.append((file, number, text[number - 1], new, what))
    draw.shuffle(every)
    return every[:count], len(every)


# One fault ------------------------------------------------------------------------------


def compile_command(file):
    """How make compiles a file, into another object."""
    text = run(["make", "-n", "-W", file, f"build/{file[:-2]}.o", "V=1"], stdout=subprocess.PIPE).stdout.decode()
    line = [row for row in text.splitlines() if f"-c -o build/{file[:-2]}.o" in row][-1]
    return line.replace(f"-o build/{file[:-2]}.o {file}", f"-o {WORK}/mutant.o {WORK}/mutant.c -I{(ROOT / file).parent}").replace(" -MMD -MP", "")


def link_command(file):
    text = run(["make", "-n", "-W", file, "build/unit", "V=1"], stdout=subprocess.PIPE).stdout.decode()
    line = [row for row in text.splitlines() if "-o build/unit " in row][-1]
    return line.replace("-o build/unit ", f"-o {WORK}/unit ").replace(f"build/{file[:-2]}.o", f"{WORK}/mutant.o")


def quiet(command, seconds, **named):
    try:
        return run(command, timeout=seconds, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **named).returncode
    except subprocess.TimeoutExpired:
        return 124


def judge(fault, covered, golden):
    """What kills it; None: nothing; "invalid": it does not compile."""
    file, number, _, new, _ = fault
    lines = (ROOT / file).read_text().splitlines()
    lines[number - 1] = new
    (WORK / "mutant.c").write_text("\n".join(lines) + "\n")
    if quiet(["sh", "-c", compile_command(file)], 300) or quiet(["sh", "-c", link_command(file)], 300):
        return "invalid"
    for name in covered[f"{file}:{number}"]:
        if quiet([str(WORK / "unit"), name], 6 * SLOW_S, env=environment()):
            return name
    if golden:
        command = link_command(file).replace(f"{WORK}/unit", f"{WORK}/smsim")
        command = re.sub(r"build/tests/unit/\S+\.o", "", command).replace("-lcunit", "build/src/main.o")
        if quiet(["sh", "-c", command], 300) == 0 and quiet(["sh", "tests/golden.sh", f"{WORK}/smsim"], 900):
            return "golden"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default=FOLDERS)
    parser.add_argument("--suites", help="all without it")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--golden", action="store_true")
    args = parser.parse_args()
    folders = args.folders.split(",")
    WORK.mkdir(parents=True, exist_ok=True)
    names = args.suites.split(",") if args.suites else suites()
    unknown = set(names) - set(suites())
    if unknown:
        parser.error(f"--suites: no suite is called {', '.join(sorted(unknown))}")
    covered = coverage(folders, names)
    faults, total = draw_faults(args.count, folders, covered, args.seed)
    print(f"{len(faults)} of {total} faults in {len(covered)} lines that tests run")
    killed, invalid, survivors = 0, 0, []
    end = time.time() + 60 * args.minutes
    for i, fault in enumerate(faults):
        if time.time() > end:
            print(f"stopped after {i} by --minutes")
            break
        by = judge(fault, covered, args.golden)
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
