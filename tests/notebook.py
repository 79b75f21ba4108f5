#!/usr/bin/env python3
"""Runs the code cells of notebooks in order and holds what they print against what is in them.

    SMSIM_LIBRARY=build/libsmsim.so.0 tests/notebook.py docs/notebook.ipynb
    UPDATE=1 ... writes what they print into the notebook instead
"""

import contextlib
import io
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))


def printed(source, names):
    """What a cell writes to its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "cell", "exec"), names)
    return out.getvalue()


def check(path):
    """The number of cells that print something else; they are shown."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    failed = 0
    for count, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        text = printed("".join(cell["source"]), names)
        outputs = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}] if text else []
        if outputs != cell["outputs"]:
            failed += 1
            if "UPDATE" not in os.environ:
                print(f"{path.name}: cell {count} prints:\n{text}")
        cell.update(execution_count=count, outputs=outputs)
    if "UPDATE" in os.environ:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    return failed


sys.exit(sum(check(Path(name)) for name in sys.argv[1:]) != 0)
