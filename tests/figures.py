#!/usr/bin/env python3
"""Errors that pages quote against those that `smsim validate` computes.

    python3 tests/figures.py SMSIM [--update]

tests/walk/figures.txt has a line for each figure: page | words of its one line there | what that
line holds, to its end where $ is last. {NAME STATISTIC [QUANTITY [ROWS]]} stands for a number: of the mapping NAME the n, mean, median
or worst error in percent, of its first QUANTITY where that is - or left out, of the ROWS whose
names match a regular expression. `worst` has no decimals, nor has a mean of `mean0`.
With --update the pages get the numbers of now.
"""
import json
import re
import statistics
import subprocess
import sys

SMSIM, UPDATE = sys.argv[1], "--update" in sys.argv
LIST = "tests/walk/figures.txt"
PLACE = re.compile(r"\{([^}]+)\}")


def entries():
    for number, line in enumerate(open(LIST, encoding="utf-8"), 1):
        if line.strip() and not line.startswith("#"):
            page, words, text = (part.strip() for part in line.split(" | ", 2))
            yield f"{LIST}:{number}", page, words, text


def sources(names):
    out = subprocess.run([SMSIM, "validate", *sorted(names), "--rows", "--json", "/dev/stdout", "--brief"],
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    return {s["name"]: s for s in json.JSONDecoder().raw_decode(out, out.index('{\n'))[0]["sources"]}


def errors(source, quantity, rows):
    kept = [r for r in source["rows"] if re.search(rows, r["name"]) and not r.get("outlier")]
    return [abs(r["predicted"][quantity] / r["measured"][quantity] - 1) for r in kept
            if quantity in r["measured"] and quantity in r["predicted"]]


def number(found, place):
    words = place.split(" ", 3)
    name, statistic, quantity, rows = words + ["-", ""][len(words) - 2:]
    source = found[name]
    of = errors(source, next(iter(source["metrics"])) if quantity == "-" else quantity, rows)
    if not of:
        sys.exit(f"figures: no row for {{{place}}}")
    return {"n": lambda: str(len(of)), "mean": lambda: f"{100 * statistics.mean(of):.1f}",
            "mean0": lambda: f"{100 * statistics.mean(of):.0f}", "median": lambda: f"{100 * statistics.median(of):.1f}",
            "worst": lambda: f"{100 * max(of):.0f}"}[statistic]()


def main():
    wrong = 0
    listed = list(entries())
    found = sources({m.split(" ")[0] for _, _, _, text in listed for m in PLACE.findall(text)})
    pages = {}
    for where, page, words, text in listed:
        lines = pages.setdefault(page, open(page, encoding="utf-8").read().split("\n"))
        at = [i for i, line in enumerate(lines) if words in line]
        end = "$" if text.endswith("$") else ""
        parts = PLACE.split(text.removesuffix("$"))
        shape = "".join(re.escape(p) if i % 2 == 0 else r"[0-9.]+" for i, p in enumerate(parts)) + end
        now = "".join(p if i % 2 == 0 else number(found, p) for i, p in enumerate(parts))
        if len(at) != 1 or len(re.findall(shape, lines[at[0]])) != 1:
            print(f"figures: {where}: {page} has not one line with it")
            wrong = 1
        elif UPDATE:
            lines[at[0]] = re.sub(shape, lambda _: now, lines[at[0]])
        elif re.search(shape, lines[at[0]]).group() != now:
            print(f"figures: {page}:{at[0] + 1}: {words}: it is {now} now (make figures UPDATE=1)")
            wrong = 1
    if UPDATE:
        for page, lines in pages.items():
            open(page, "w", encoding="utf-8").write("\n".join(lines))
    return wrong


sys.exit(main())
