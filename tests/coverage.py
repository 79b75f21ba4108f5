#!/usr/bin/env python3
"""Which share of the lines and branches of each folder of src the tests run.

    tests/coverage.py BUILD

Of the counts in BUILD (build/coverage). Prints a table; the last line is all of src.
BUILD/functions has the functions that lack branches: how many, of how many, how often it
was called. A branch is a way out of a condition as gcc counts it without optimisation. Of
mallocs that fail there are none: they end in one handler (base/xmalloc.h). Those of
assertions, of which one way is a fault of smsim, and of uthash's macros do not count.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_COUNTED = re.compile(r"\b(assert|HASH_\w+)\(")


def files_of(build):
    """What gcov says of each file of src: [(name, its JSON)]."""
    data = sorted(str(path) for path in (build / "src").rglob("*.gcda"))
    for at in range(0, len(data), 100):  # on its output: files of one name would have one file
        said = subprocess.run(["gcov", "-b", "-t", "--json-format", *data[at : at + 100]], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
        for line in said.splitlines():
            for file in json.loads(line)["files"]:
                if file["file"].startswith("src/") and file["file"].endswith(".c"):
                    yield file["file"], file


def main():
    build = Path(sys.argv[1]).resolve()
    folders = defaultdict(lambda: [0, 0, 0, 0])
    functions = []
    for name, file in files_of(build):
        parts = name.split("/")
        lacks = defaultdict(lambda: [0, 0])
        lines = {row["line_number"]: False for row in file["lines"]}
        text = (ROOT / name).read_text().splitlines()
        for row in file["lines"]:
            lines[row["line_number"]] |= row["count"] > 0
            counted = not NOT_COUNTED.search(text[row["line_number"] - 1])
            taken = [branch["count"] > 0 for branch in row["branches"] if counted]
            for counts in (folders[parts[1] if len(parts) > 2 else "main"], folders["all"]):
                counts[2] += len(taken)
                counts[3] += sum(taken)
            lack = lacks[row.get("function_name")]
            lack[0] += len(taken) - sum(taken)
            lack[1] += len(taken)
        for counts in (folders[parts[1] if len(parts) > 2 else "main"], folders["all"]):
            counts[0] += len(lines)
            counts[1] += sum(lines.values())
        functions += [(*lacks[row["name"]], row["execution_count"], row["name"], name) for row in file["functions"] if lacks[row["name"]][0]
                      or not row["execution_count"]]
    if not folders:
        print(f"coverage: nothing in {build} has run")
        return 1
    (build / "functions").write_text("".join(
        f"{lack:3} of {of:3} branches, called {called:9}  {name}  {file}\n" for lack, of, called, name, file in sorted(functions, reverse=True)))
    for folder in sorted(folders, key=lambda folder: (folder == "all", folder)):
        lines, ran, branches, taken = folders[folder]
        print(f"{folder:12} {lines:6} lines {100 * ran / max(lines, 1):5.1f} %  {branches:6} branches {100 * taken / max(branches, 1):5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
