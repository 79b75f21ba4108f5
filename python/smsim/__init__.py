"""How long a training step takes on a GPU cluster, whether it fits, and what it costs.

    >>> import smsim
    >>> smsim.simulate({"model": "gpt2", "cluster": {"instance": "p4d.24xlarge", "count": 2},
    ...                 "training": {"sequence_length": 1024, "micro_batch_size": 8}})["step_time_s"]

Results are the dictionaries of `smsim ... --json`; `smsim schema simulate` says what their
keys mean. Whatever is wrong raises smsim.Error. Functions may be called from several
threads at the same time: they run in parallel.
"""

from ._job import Error, Job, compare, plan, simulate
from ._library import data, version

__all__ = ["Error", "Job", "compare", "data", "plan", "simulate", "version"]
__version__ = version()
