"""The package against the program, and against itself from several threads:
    SMSIM=build/smsim python3 -m unittest discover -s python/tests"""

import copy
import json
import locale
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("SMSIM_PYTHON", str(ROOT / "python")))

import smsim  # noqa: E402

PROGRAM = os.environ.get("SMSIM", str(ROOT / "build/smsim"))
LLAMA = "llama2-70b-smp2-16xp5.48xlarge"
BERT = "bert-large-squad-2xp3.16xlarge"
GPT = {
    "model": "gpt2-xl",
    "cluster": {"instance": "p4d.24xlarge", "count": 2},
    "training": {"sequence_length": 1024, "micro_batch_size": 2, "gradient_accumulation_steps": 4, "precision": "bf16"},
    "parallelism": {"library": "fsdp", "sharding": {"strategy": "full"}},
}


def program(*words):
    """What the program's --json gives."""
    out = subprocess.run([PROGRAM, *words, "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(out.stdout)


class Simulate(unittest.TestCase):
    def test_is_the_program(self):
        for name in (BERT, LLAMA, "gpt-neox-20b-12xp4d.24xlarge"):
            self.assertEqual(smsim.simulate(name), program("simulate", name), name)

    def test_of_dictionary(self):
        result = smsim.simulate(GPT)
        self.assertEqual(result["gpus"], 16)
        parts = result["breakdown_s"]
        total = sum(seconds for part, seconds in parts.items() if part != "data_comm_hidden")
        self.assertAlmostEqual(total, result["step_time_s"], delta=1e-6 * result["step_time_s"])

    def test_sets(self):
        changed = copy.deepcopy(GPT)
        changed["cluster"]["count"] = 4
        wide = smsim.simulate(changed)
        self.assertEqual(smsim.simulate(GPT, {"/cluster/count": 4})["step_time_s"], wide["step_time_s"])
        self.assertEqual(smsim.simulate(GPT, ["/cluster/count=4"])["step_time_s"], wide["step_time_s"])
        self.assertEqual(smsim.Job(GPT).changed({"/cluster/count": 4}).scenario, changed)
        self.assertNotEqual(smsim.simulate(GPT)["step_time_s"], wide["step_time_s"])

    def test_network(self):
        flow, chunk = (smsim.simulate(BERT, network=network)["simulation"]["network"] for network in ("flow", "chunk"))
        self.assertEqual((flow, chunk), ("flow", "chunk"))

    def test_too_large_is_a_result(self):
        result = smsim.simulate("llama2-70b-smp2-16xp5.48xlarge", {"/training/micro_batch_size": 512})
        self.assertFalse(result["memory"]["fits"])

    def test_script(self):
        job = smsim.Job(ROOT / "scenarios/launch/bert-large-squad-smddp.py", {"/training/sequence_length": 384})
        self.assertEqual(job.scenario["cluster"]["instance"][:3], "ml.")
        self.assertGreater(job.simulate()["step_time_s"], 0)

    def test_warnings(self):
        self.assertTrue(all(finding["code"] and finding["text"] for finding in smsim.Job(BERT).warnings))
        self.assertTrue(smsim.Job(BERT).warnings)


class Errors(unittest.TestCase):
    def fails(self, words, function, *arguments, **named):
        with self.assertRaises(smsim.Error) as caught:
            function(*arguments, **named)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_of_scenarios(self):
        self.fails('did you mean "gpt2-xl"', smsim.simulate, {**GPT, "model": "gpt2-xxl"})
        error = self.fails("/training/tokens", smsim.simulate, {**GPT, "training": {"tokens": 1, "batch": 2}})
        self.assertEqual((error.status, error.n_errors), (3, len(error.lines)))
        self.assertGreater(error.n_errors, 1)
        self.fails("nothing", smsim.simulate, "nothing")
        self.fails("/nothing", smsim.simulate, GPT, {"/nothing": 1})

    def test_of_requests(self):
        self.assertEqual(self.fails("network", smsim.simulate, BERT, network="slow").status, 2)
        self.assertEqual(self.fails("objective", smsim.plan, GPT, objective="fun").status, 2)
        self.assertEqual(self.fails("job is missing", smsim.plan).status, 2)
        self.fails("draws", smsim.plan, GPT, draws=1)
        self.fails("tensors", smsim.plan, GPT, fix={"tensors": 1})
        with self.assertRaises(TypeError):
            smsim.simulate(BERT, "/cluster/count=4")
        for job, sets in ((BERT + "\0", None), (BERT, ["/cluster/count=4\0"])):
            with self.assertRaises(ValueError):
                smsim.simulate(job, sets)


class Plan(unittest.TestCase):
    QUESTION = {"model": "bert-large-uncased", "instances": "p3.8xlarge", "count": 1, "global_batch": 16, "sequence_length": 128}

    def test_is_the_program(self):
        words = [f"--{key.rstrip('s').replace('_', '-')}={value}" for key, value in self.QUESTION.items()]
        self.assertEqual(smsim.plan(**self.QUESTION), program("plan", *words))

    def test_plans_simulate_alike(self):
        plans = smsim.plan(GPT, top=3, fix={"library": "fsdp"}, threads=2)["plans"]
        self.assertGreater(len(plans), 2)
        for row in plans[:3]:
            result = smsim.simulate(row["scenario"])
            self.assertEqual(result["step_time_s"], row["step_time_s"])
            self.assertEqual(result["memory"]["peak_bytes"], row["peak_bytes"])

    def test_options(self):
        cheap = smsim.plan(**self.QUESTION, objective="cost", prices={"p3.8xlarge": 1.0})
        self.assertEqual(cheap["plans"][0]["usd_per_hour"], 1.0)
        fixed = smsim.plan(**self.QUESTION, allow={"library": ["ddp", "deepspeed"]})
        self.assertLessEqual({row["parallelism"]["library"] for row in fixed["plans"]}, {"ddp", "deepspeed"})
        self.assertEqual(smsim.plan(GPT, max_cost_usd=1e-6, tokens=1e9)["plans"], [])


class Compare(unittest.TestCase):
    def test_is_the_program(self):
        other = "bert-large-squad-2xp4d.24xlarge"
        self.assertEqual(smsim.compare(BERT, other), program("compare", BERT, other)["comparisons"][0])

    def test_sums(self):
        wide = smsim.Job(GPT, {"/cluster/count": 4, "/training/precision": "fp16"})
        result = smsim.compare(GPT, wide)
        self.assertEqual(result["to"]["step_time_s"], wide.simulate()["step_time_s"])


class Threads(unittest.TestCase):
    def test_many(self):
        job = smsim.Job(GPT)
        sources = [BERT, LLAMA, GPT, job] * 4
        alone = [smsim.simulate(source) for source in sources]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(smsim.simulate, sources))
        self.assertEqual(alone, together)


class Locale(unittest.TestCase):
    def test_commas(self):
        plain = smsim.simulate(GPT), smsim.plan(**Plan.QUESTION), smsim.Job(BERT).scenario
        try:
            locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        except locale.Error:
            self.skipTest("there is no German locale")
        try:
            self.assertEqual(locale.localeconv()["decimal_point"], ",")
            self.assertEqual((smsim.simulate(GPT), smsim.plan(**Plan.QUESTION), smsim.Job(BERT).scenario), plain)
            self.assertEqual(locale.localeconv()["decimal_point"], ",")
        finally:
            locale.setlocale(locale.LC_ALL, "C")


class Package(unittest.TestCase):
    def test_version(self):
        said = subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn(f"smsim {smsim.version()}\n", said)
        self.assertTrue((Path(smsim.data()) / "models").is_dir())
        self.assertTrue((Path(smsim.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
