"""Which tests reach which lines: for tests/mutate.py.

A test is a suite of build/unit ("unit/NAME") or a golden ("cli/NAME", "bad/NAME"). Each is
run once by programs in which some folders are compiled with --coverage; what ran is kept
in a file until the programs are built anew.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from multiprocessing.pool import ThreadPool
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
GCOV = BUILD / "gcov"
SLOW_S = 30  # a test that takes more CPU time here is left out


# Tests ----------------------------------------------------------------------------------


def suites():
    """{name: its file} of all suites."""
    found = {}
    for path in sorted((ROOT / "tests/unit").glob("test_*.c")):
        text = path.read_text()
        names = re.findall(r'CU_add_suite\("([^"]+)"', text)
        names += re.findall(r'\{\s*"([^"]+)",\s*NULL,\s*NULL,\s*NULL,\s*NULL,\s*\w+', text)
        found.update({name: path for name in names})
    assert len(found) > 100, found
    return found


def goldens():
    return [f"{kind}/{path.name}" for kind in ("bad", "cli") for path in sorted((ROOT / "tests" / kind).iterdir()) if path.is_dir()]


def included(path):
    """The folders of src that a file includes."""
    return set(re.findall(r'^#include "(\w+)/', path.read_text(), re.M))


def may_reach(path, folders):
    """Whether code that a test's file includes leads to one of the folders."""
    if not may_reach.graph:
        for source in (ROOT / "src").rglob("*.[ch]"):
            may_reach.graph[source.relative_to(ROOT / "src").parts[0]] |= included(source)
    seen, todo = set(), included(path)
    while todo:
        folder = todo.pop()
        seen.add(folder)
        todo |= may_reach.graph[folder] - seen
    return bool(seen & set(folders))


may_reach.graph = defaultdict(set)


def environment(**more):
    return {**os.environ, "SMSIM": str(BUILD / "smsim"), "OMP_NUM_THREADS": "1", "SMSIM_DATA": str(ROOT), **more}


def passes(test, unit, smsim, cpu_s, **more):
    """(Whether a test passes with these programs within so much CPU time, what it took)."""
    kind, name = test.split("/", 1)
    words, given, wanted = [str(unit), name], None, None
    if kind != "unit":
        words, given, wanted = golden(ROOT / "tests" / test, smsim)
        more["SMSIM"] = str(smsim)
    limit = ["timeout", "-s", "KILL", str(20 * cpu_s), "sh", "-c", f'ulimit -t {cpu_s}; exec "$@"', "-"]
    with open(given or os.devnull, "rb") as stdin, tempfile.TemporaryFile() as out, open(os.devnull, "wb") as null:
        outputs = {"stdout": null, "stderr": out} if kind == "bad" else {"stdout": out, "stderr": null}
        process = subprocess.Popen(limit + words, cwd=ROOT, stdin=stdin, env=environment(**more), **outputs)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        good = (process.returncode, out.read()) == wanted if wanted else process.returncode == 0
    return good, used.ru_utime + used.ru_stime


def golden(folder, smsim):
    """Command, standard input, and (status, output) of a golden, as tests/golden.sh has them."""
    line = f"check {folder.relative_to(ROOT)}/in.json"
    if (folder / "cmd").exists():
        line = (folder / "cmd").read_text().split("\n")[0]
    bad = folder.parent.name == "bad"
    status = int((folder / "status").read_text()) if (folder / "status").exists() else 0
    given = folder / "in"
    shell = 'smsim=$0; out=$(mktemp -d); trap "rm -rf $out" EXIT; eval "\\"\\$smsim\\" $1"'
    return (["sh", "-c", shell, str(smsim), line], given if given.is_file() else None,
            (3 if bad else status, (folder / ("error" if bad else "stdout")).read_bytes()))


# Coverage -------------------------------------------------------------------------------


def has_counts(path):
    """Whether a function of a .gcda ran: gcc leaves out counts that are all 0."""
    data = path.read_bytes()
    at = 16
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == 0x01A10000 and length > 0:
            return True
        at += 8 + max(length, 0)
    return False


def lines_of(directory):
    """{file: lines that ran} of the .gcda under a directory."""
    data = []
    for path in directory.rglob("*.gcda"):
        if has_counts(path):
            notes = GCOV / path.relative_to(directory).with_suffix(".gcno")
            os.symlink(notes, path.with_suffix(".gcno"))  # gcov wants the notes next to the counts
            data.append(str(path))
    ran = defaultdict(set)
    for at in range(0, len(data), 100):
        said = subprocess.run(["gcov", "-t", "--json-format", *data[at : at + 100]], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in said.splitlines():
            for file in json.loads(line)["files"]:
                ran[file["file"]] |= {row["line_number"] for row in file["lines"] if row["count"]}
    return ran


def reached(test):
    """(CPU seconds of a test, lines that ran)."""
    with tempfile.TemporaryDirectory() as out:
        strip = str(len(GCOV.parts) - 1)
        took = passes(test, GCOV / "unit", GCOV / "smsim", 3 * SLOW_S, GCOV_PREFIX=out, GCOV_PREFIX_STRIP=strip)[1]
        return took, lines_of(Path(out))


def coverage(folders, names, kept, stale):
    """{"file:line": [tests, the quickest first]} of lines in folders; `names`: of the tests.

    As the file `kept` has it, unless the programs are newer and `stale` is false."""
    built = max((BUILD / program).stat().st_mtime for program in ("unit", "smsim"))
    if kept.exists() and (stale or kept.stat().st_mtime > built):
        return json.loads(kept.read_text())
    by_line = defaultdict(list)
    with ThreadPool(os.cpu_count()) as pool:
        for name, (took, ran) in zip(names, pool.imap(reached, names)):
            print(f"\r{name:40} {took:5.1f} s", end="", file=sys.stderr)
            for file, lines in ran.items():
                if took < SLOW_S and any(file.startswith(f"src/{folder}/") for folder in folders):
                    for line in lines:
                        by_line[f"{file}:{line}"].append((took, name))
    print("\r\033[K", end="", file=sys.stderr)
    result = {line: [name for _, name in sorted(rows)] for line, rows in by_line.items()}
    kept.write_text(json.dumps(result))
    return result
