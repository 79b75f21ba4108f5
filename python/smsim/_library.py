"""libsmsim by ctypes: its structs and functions, as smsim.h has them."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from pathlib import Path
from typing import Iterator

_SONAME = "libsmsim.so.0"

c_lines = ctypes.POINTER(ctypes.c_char_p)  # strings, NULL at the end


class ErrorStruct(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int32),
        ("n_errors", ctypes.c_int32),
        ("text", ctypes.c_char * 4096),
    ]


class SimulateOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("network", ctypes.c_char_p),
        ("unfold", ctypes.c_int32),
        ("threads", ctypes.c_int32),
    ]


class Step(ctypes.Structure):
    _fields_ = [
        ("step_time_s", ctypes.c_double),
        ("range_s", ctypes.c_double * 2),
        ("samples_per_s", ctypes.c_double),
        ("tokens_per_s", ctypes.c_double),
        ("model_flops_per_gpu_s", ctypes.c_double),
        ("mfu", ctypes.c_double),
        ("hfu", ctypes.c_double),
        ("gpus", ctypes.c_int64),
        ("peak_bytes", ctypes.c_int64),
        ("capacity_bytes", ctypes.c_int64),
        ("fits", ctypes.c_int32),
        ("usd_per_hour", ctypes.c_double),
        ("usd_per_step", ctypes.c_double),
        ("usd_per_job", ctypes.c_double),
        ("hours_per_job", ctypes.c_double),
        ("json", ctypes.c_char_p),
    ]


class PlanRequest(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("job", ctypes.c_void_p),
        ("model", ctypes.c_char_p),
        ("instances", ctypes.c_char_p),
        ("count", ctypes.c_char_p),
        ("global_batch", ctypes.c_int64),
        ("sequence_length", ctypes.c_int64),
        ("sets", c_lines),
        ("fixes", c_lines),
        ("allows", c_lines),
        ("prices", c_lines),
        ("objective", ctypes.c_char_p),
        ("stack", ctypes.c_char_p),
        ("risk", ctypes.c_char_p),
        ("tokens", ctypes.c_double),
        ("max_cost_usd", ctypes.c_double),
        ("deadline_h", ctypes.c_double),
        ("top", ctypes.c_int32),
        ("draws", ctypes.c_int32),
        ("seed", ctypes.c_int64),
        ("exhaustive", ctypes.c_int32),
        ("threads", ctypes.c_int32),
    ]


class Plans(ctypes.Structure):
    _fields_ = [
        ("n_plans", ctypes.c_int32),
        ("plans", ctypes.c_void_p),
        ("json", ctypes.c_char_p),
    ]


class Difference(ctypes.Structure):
    _fields_ = [
        ("from_s", ctypes.c_double),
        ("to_s", ctypes.c_double),
        ("n_causes", ctypes.c_int32),
        ("causes", ctypes.c_void_p),
        ("json", ctypes.c_char_p),
    ]


def _places() -> Iterator[str]:
    """Where the library may be, the first that is there counts."""
    named = os.environ.get("SMSIM_LIBRARY")
    if named:
        yield named
        return
    here = Path(__file__).resolve().parent
    for path in (here / _SONAME, here.parents[1] / "build" / _SONAME):
        if path.exists():
            yield str(path)
    yield _SONAME
    found = ctypes.util.find_library("smsim")
    if found:
        yield found


def _open() -> ctypes.CDLL:
    why = ""
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            why = why or str(error)
    raise ImportError(f"libsmsim is not found: {why} (install smsim, or name the library by SMSIM_LIBRARY)")


def _declare(lib: ctypes.CDLL) -> None:
    error = ctypes.POINTER(ErrorStruct)
    job = ctypes.c_void_p
    for name, result, arguments in (
        ("version", ctypes.c_char_p, []),
        ("data", ctypes.c_void_p, []),
        ("free", None, [ctypes.c_void_p]),
        ("load", job, [ctypes.c_char_p, c_lines, error]),
        ("parse", job, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, c_lines, error]),
        ("changed", job, [job, c_lines, error]),
        ("job_free", None, [job]),
        ("job_json", ctypes.c_char_p, [job]),
        ("job_warnings", ctypes.c_char_p, [job]),
        ("simulate", ctypes.POINTER(Step), [job, ctypes.POINTER(SimulateOptions), error]),
        ("step_free", None, [ctypes.POINTER(Step)]),
        ("plan", ctypes.POINTER(Plans), [ctypes.POINTER(PlanRequest), error]),
        ("plans_free", None, [ctypes.POINTER(Plans)]),
        ("compare", ctypes.POINTER(Difference), [job, job, error]),
        ("difference_free", None, [ctypes.POINTER(Difference)]),
    ):
        function = getattr(lib, "smsim_" + name)
        function.restype = result
        function.argtypes = arguments


lib = _open()
_declare(lib)


def version() -> str:
    """The release of the library."""
    return lib.smsim_version().decode()


def data() -> str:
    """The folder of its data."""
    text = lib.smsim_data()
    try:
        return (ctypes.cast(text, ctypes.c_char_p).value or b"").decode()
    finally:
        lib.smsim_free(text)
