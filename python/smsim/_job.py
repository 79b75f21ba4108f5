"""Jobs, and what is asked of them."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from ._library import ErrorStruct, PlanRequest, SimulateOptions, c_lines, lib

Sets = Union[Mapping[str, Any], Iterable[str], None]
Source = Union["Job", Mapping[str, Any], str, "os.PathLike[str]"]

_BAD_REQUEST, _NO_MEMORY, _FAULT = 2, 4, 5


class Error(ValueError):
    """What is wrong with a job or a request: a line each in `lines`."""

    def __init__(self, status: int, text: str, n_errors: int) -> None:
        super().__init__(text)
        self.status = status
        self.lines: List[str] = text.split("\n")
        self.n_errors = n_errors


def _raise(error: ErrorStruct) -> None:
    text = error.text.decode(errors="replace")
    if error.status == _NO_MEMORY:
        raise MemoryError(text)
    if error.status == _FAULT:
        raise RuntimeError(text)
    raise Error(error.status, text, error.n_errors)


def _bytes(value: Any) -> bytes:
    """As the library takes a string or a path: none within has a zero byte."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def _lines(values: Sets) -> Any:
    """The C list of "POINTER=VALUE"; a mapping's values are written as JSON."""
    if values is None:
        return None
    if isinstance(values, str):
        raise TypeError("a list of strings or a mapping is needed, not a string")
    if isinstance(values, Mapping):
        values = [f"{key}={json.dumps(value)}" for key, value in values.items()]
    encoded = [_bytes(value) for value in values]
    return ctypes.cast((ctypes.c_char_p * (len(encoded) + 1))(*encoded, None), c_lines)


def _text(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else _bytes(value)


class Job:
    """A training job that was read and checked: from a dictionary, the name of a shipped
    scenario, or a file that `smsim simulate` takes. It does not change."""

    _handle: Optional[int] = None

    def __init__(self, source: Source, sets: Sets = None) -> None:
        error = ErrorStruct()
        lines = _lines(sets)
        if isinstance(source, Job):
            handle = lib.smsim_changed(source._handle, lines, error)
        elif isinstance(source, Mapping):
            text = json.dumps(source).encode()
            handle = lib.smsim_parse(text, len(text), b"scenario", lines, error)
        else:
            handle = lib.smsim_load(_bytes(source), lines, error)
        if not handle:
            _raise(error)
        self._handle = handle

    def __del__(self) -> None:
        if self._handle:
            lib.smsim_job_free(self._handle)
            self._handle = None

    @property
    def scenario(self) -> Dict[str, Any]:
        """The scenario, with what was set."""
        return json.loads(lib.smsim_job_json(self._handle))

    @property
    def warnings(self) -> List[Dict[str, Any]]:
        """What was found of it: warnings and notes (`smsim schema codes`)."""
        return json.loads(lib.smsim_job_warnings(self._handle))

    def changed(self, sets: Sets) -> "Job":
        """This job with changes."""
        return Job(self, sets)

    def simulate(self, network: Optional[str] = None, unfold: bool = False, threads: int = 0) -> Dict[str, Any]:
        """One step of it."""
        error = ErrorStruct()
        options = SimulateOptions(ctypes.sizeof(SimulateOptions), _text(network), unfold, threads)
        step = lib.smsim_simulate(self._handle, options, error)
        if not step:
            _raise(error)
        try:
            return json.loads(step.contents.json)
        finally:
            lib.smsim_step_free(step)


def _job(source: Source, sets: Sets = None) -> Job:
    return source if isinstance(source, Job) and sets is None else Job(source, sets)


def simulate(
    job: Source,
    sets: Sets = None,
    network: Optional[str] = None,
    unfold: bool = False,
    threads: int = 0,
) -> Dict[str, Any]:
    """One step of a job, as `smsim simulate --json`. A job that does not fit is a result.

    sets: changes: {"/cluster/count": 4}, or ["/cluster/count=4"]. network: "analytic",
    "flow" or "chunk". unfold: simulate every rank. threads: of draws; 0: all cores.
    """
    return _job(job, sets).simulate(network, unfold, threads)


def plan(
    job: Optional[Source] = None,
    *,
    model: Optional[str] = None,
    instances: Union[str, Iterable[str], None] = None,
    count: Union[int, str, None] = None,
    global_batch: int = 0,
    sequence_length: int = 0,
    sets: Sets = None,
    fix: Optional[Mapping[str, Any]] = None,
    allow: Optional[Mapping[str, Iterable[Any]]] = None,
    prices: Optional[Mapping[str, float]] = None,
    objective: Optional[str] = None,
    stack: Optional[str] = None,
    risk: Optional[str] = None,
    tokens: float = 0,
    max_cost_usd: float = 0,
    deadline_h: float = 0,
    top: int = 0,
    draws: int = 0,
    seed: int = 0,
    exhaustive: bool = False,
    threads: int = 0,
) -> Dict[str, Any]:
    """The best plans of a job, or of a model on instances, as `smsim plan --json`.

    "plans" is empty where nothing fits, or no plan keeps the budget. fix: {"tensor": 8};
    allow: {"library": ["fsdp", "megatron"]}; prices: {"p4d.24xlarge": 20.0} in USD an hour;
    stack: the command's --for. The rest is named as the command's options are.
    """
    loaded = None if job is None else _job(job)
    if instances is not None and not isinstance(instances, str):
        instances = ",".join(instances)
    request = PlanRequest(
        size=ctypes.sizeof(PlanRequest),
        job=None if loaded is None else loaded._handle,
        model=_text(model),
        instances=_text(instances),
        count=None if count is None else str(count).encode(),
        global_batch=global_batch,
        sequence_length=sequence_length,
        sets=_lines(sets),
        fixes=_lines(None if fix is None else [f"{key}={value}" for key, value in fix.items()]),
        allows=_lines(
            None if allow is None else [f"{key}={','.join(map(str, values))}" for key, values in allow.items()]
        ),
        prices=_lines(None if prices is None else [f"{key}={value}" for key, value in prices.items()]),
        objective=_text(objective),
        stack=_text(stack),
        risk=_text(risk),
        tokens=tokens,
        max_cost_usd=max_cost_usd,
        deadline_h=deadline_h,
        top=top,
        draws=draws,
        seed=seed,
        exhaustive=exhaustive,
        threads=threads,
    )
    error = ErrorStruct()
    plans = lib.smsim_plan(request, error)
    if not plans:
        _raise(error)
    try:
        return json.loads(plans.contents.json)
    finally:
        lib.smsim_plans_free(plans)


def compare(a: Source, b: Source) -> Dict[str, Any]:
    """What makes two jobs differ, cause by cause: a comparison of `smsim compare --json`."""
    error = ErrorStruct()
    first, second = _job(a), _job(b)
    difference = lib.smsim_compare(first._handle, second._handle, error)
    if not difference:
        _raise(error)
    try:
        return json.loads(difference.contents.json)["comparisons"][0]
    finally:
        lib.smsim_difference_free(difference)
