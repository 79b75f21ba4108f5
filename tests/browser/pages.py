"""smsim's pages in a headless Chromium: what they show is what the command line gives; controls, keyboard, phone, dark,
print. Usage: pages.py SMSIM [DIR of screenshots]. Exits with 0 and says so where there is no browser."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from driver import Browser, is_there  # noqa: E402

SMSIM = os.path.abspath(sys.argv[1])
SHOTS = sys.argv[2] if len(sys.argv) > 2 else None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOGS = [os.path.join(ROOT, "tests/walk/logs", n) for n in ("llama2-70b.log", "nccl-socket.log", "smi-hot.csv", "trace.json")]
LLAMA = "llama2-70b-smp2-16xp5.48xlarge"
DOCTOR = ("doctor", LLAMA, "--log", LOGS[0], "--log", LOGS[1], "--log", LOGS[2])
BERT, P4D, GPT3 = "bert-large-squad-2xp3.16xlarge", "bert-large-squad-2xp4d.24xlarge", "gpt3-175b-64xp4d.24xlarge"
done = []


def smsim(*arguments):
    return subprocess.run([SMSIM, *arguments], capture_output=True, text=True, check=False).stdout


def result(*arguments):
    return json.loads(smsim(*arguments, "--json", "-"))


def test(function):
    done.append(function)
    return function


def shot(b, name):
    if SHOTS:
        b.picture(os.path.join(SHOTS, name + ".png"))


def same(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def fits_width(b, what, width):
    """A phone's window grows with what overflows: the width that was asked for counts."""
    same(b.run("return document.documentElement.scrollWidth") <= width, True, what + " is as wide as the window")


def static(b, folder, name, *arguments):
    path = os.path.join(folder, name + ".html")
    smsim(*arguments, "--html", path)
    b.open("file://" + path)
    return path


@test
def pages_in_every_size(b, folder, _):
    """Every command's page: no error, no overflow at 1280 and 390 pixels, light and dark."""
    jobs = {"step": ("simulate", GPT3), "plan": ("plan", "--model", "gpt2-xl", "--instance", "p4d.24xlarge", "--count", "1..2", "--global-batch",
                                                  "64", "--sequence-length", "1024"), "compare": ("compare", BERT, P4D), "doctor": DOCTOR,
            "doctor-trace": ("doctor", LLAMA, "--log", LOGS[3]), "validate": ("validate", "nvidia_bert_large_training", "korthikanti2022_memory"),
            "sweep": ("sweep", "bert-large-scaling", "--resume", "--out", os.path.join(folder, "sweep"))}
    for name, arguments in jobs.items():
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            b.size(width, 900, dark)
            path = static(b, folder, name, *arguments)
            fits_width(b, f"{name} at {width}", width)
            same(b.run("return [...document.querySelectorAll('svg text')].filter((t) => t.getBoundingClientRect().left < t.ownerSVGElement.getBoundingClientRect().left - 1).map((t) => t.textContent)"),
                 [], f"{name} at {width}: text cut off at the left")
            shot(b, f"{name}-{width}{'-dark' if dark else ''}")
            paper = b.run("return getComputedStyle(document.body).backgroundColor")
            same(sum(int(v) for v in paper[4:-1].split(",")) < 200, dark, f"{name}: a dark page")
        same(os.path.getsize(path) < 1_000_000, True, f"{name} below 1 MB")


@test
def numbers_of_a_step(b, folder, _):
    """Tiles, verdict and stage table have the result's numbers."""
    b.size(1280, 900)
    static(b, folder, "bert", "simulate", BERT)
    r = result("simulate", BERT)
    tiles = b.text(".tiles")
    for wanted in (f"{r['step_time_s'] * 1e3:.0f}", f"{100 * r['mfu']:.1f}", f"{r['memory']['peak_bytes'] / 2**30:.3g}"):
        same(wanted in tiles, True, f"{wanted} in the tiles")
    share = 100 * r["breakdown_s"]["data_comm_exposed"] / r["step_time_s"]
    same(f"{share:.0f} % waits for gradients" in b.text(".verdict"), True, "the verdict")


@test
def timeline_by_keyboard(b, folder, _):
    """Zoom, move and all of it by keys; the legend hides kinds."""
    b.size(1280, 900)
    static(b, folder, "gpt3", "simulate", GPT3)
    picture = "return document.querySelector('canvas').toDataURL()"
    whole = b.run(picture)
    b.run("document.querySelector('canvas').focus()")
    b.keys("+", "+", "Right")
    zoomed = b.run(picture)
    same(zoomed != whole, True, "keys zoom")
    b.keys("0")
    b.run("document.activeElement.blur()")
    same(b.run(picture) == whole, True, "0 shows all")
    b.click("#timeline .legend button")
    same(b.run("return document.querySelector('#timeline .legend button').getAttribute('aria-pressed')"), "false", "a kind is hidden")
    same(b.run(picture) != whole, True, "the picture lacks it")


@test
def tables_sort(b, folder, _):
    """The stage table sorts by a press, and back."""
    b.size(1280, 900)
    static(b, folder, "gpt3", "simulate", GPT3)
    first = "return document.querySelector('#stages tbody td').textContent"
    b.run("document.querySelectorAll('#stages th button')[1].click()")
    same(b.run(first), "0", "the fullest stage first")
    b.run("document.querySelectorAll('#stages th button')[1].click()")
    same(b.run(first), "14", "the emptiest first")


@test
def doctor_says_why(b, folder, _):
    """The verdict, the cause and each step are the result's."""
    b.size(1280, 900)
    static(b, folder, "doctor", *DOCTOR)
    r = result(*DOCTOR)
    same(f"{r['ratio']:.3g} times as long" in b.text(".verdict"), True, "the ratio")
    same(f"{100 * r['causes'][0]['posterior']:.0f} %" in b.text("#causes"), True, "the first cause")
    same("Install the network plugin" in b.text("#causes"), True, "its mend")
    same(b.run("return document.querySelectorAll('#records circle').length"), r["measured"]["records"], "a point each record")
    same(b.run("return document.querySelectorAll('#gpus tbody tr').length"), 8, "GPUs")


@test
def validate_row_by_row(b, folder, _):
    """A point and a row each; another source by its name."""
    b.size(1280, 900)
    names = ("nvidia_bert_large_training", "korthikanti2022_memory")
    static(b, folder, "validate", "validate", *names)
    sources = result("validate", *names)["sources"]
    same(b.run("return document.querySelectorAll('#rows circle').length"), sources[0]["metrics"]["samples_per_s"]["n"], "a point each row")
    b.run("document.querySelectorAll('#sources .link')[1].click()")
    b.until("return document.querySelector('#source').selectedOptions[0].textContent.startsWith('korthikanti2022_memory')", "the second source")
    same(b.run("return document.querySelectorAll('#rows circle').length"), next(iter(sources[1]["metrics"].values()))["n"], "its points")


@test
def sweep_by_any_two(b, folder, _):
    """A point each, figures inside, another quantity by a choice, all points by a press."""
    b.size(1280, 900)
    static(b, folder, "sweep", "sweep", "bert-large-scaling", "--out", os.path.join(folder, "again"))
    same(b.run("return document.querySelectorAll('#explore circle').length"), 54, "points")
    same(b.run("return [...document.images].every((i) => i.complete && i.naturalWidth > 300) && document.images.length"), 2, "figures")
    b.run("const s = document.querySelector('#sweep-y'); s.value = [...s.options].find((o) => o.textContent === 'peak memory per GPU' || o.textContent === 'step time').value;"
          "s.dispatchEvent(new Event('change'))")
    b.until("return /step time|peak memory/.test(document.querySelector('#explore .chart').textContent)", "the other quantity")
    b.run("[...document.querySelectorAll('#points button')].pop().click()")
    same(b.run("return document.querySelectorAll('#points tbody tr').length"), 54, "all points")


@test
def print_is_light(b, folder, _):
    """Paper is white, also from a dark theme, and cuts nothing, also from a phone; nothing on it is to be pressed."""
    jobs = {"step": ("simulate", GPT3), "plan": ("plan", "--model", "gpt2-xl", "--instance", "p4d.24xlarge", "--count", "1..2",
                                                 "--global-batch", "64", "--sequence-length", "1024"), "compare": ("compare", BERT, P4D)}
    for name, arguments in jobs.items():
        b.size(390, 844, dark=True)
        static(b, folder, name, *arguments)
        b.run("dispatchEvent(new Event('beforeprint'))")
        b.size(794, 1123, dark=True, media="print")
        same(b.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)", name + ": paper")
        same(b.run("return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.ariaLabel)"), [], name + ": tables that are cut")
        fits_width(b, name + " on paper", 794)
        same(b.run("return [...document.querySelectorAll('.chart')].filter((e) => Math.abs(e.clientWidth - e.firstChild.clientWidth) > 1).length"), 0, name + ": charts of a phone's width")
        same(b.run("return [...document.querySelectorAll('.tools, details, .noprint')].filter((e) => e.offsetHeight > 0).length"), 0, name + ": controls")
        same(b.printed()[:5], b"%PDF-", name + ": a PDF")


@test
def markup_is_text(b, folder, _):
    """Names with markup in them are shown, and start nothing."""
    b.size(1280, 900)
    evil = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"
    page = os.path.join(folder, "plain.json")
    smsim("simulate", BERT, "--html", page)
    with open(page) as f:
        job = json.load(f)["scenario"]
    job["name"] = job["comment"] = evil
    with open(os.path.join(folder, "evil.json"), "w") as f:
        json.dump(job, f)
    static(b, folder, "evil", "simulate", os.path.join(folder, "evil.json"))
    b.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    b.until("return document.querySelector('#scenario pre').textContent.includes('onerror')", "the scenario is shown")
    same("owned" in b.run("return document.title"), False, "markup of a name")
    same(b.run("return document.images.length"), 0, "images")


def settled(b):
    b.until("return document.body.getAttribute('aria-busy') === 'false' && !!document.querySelector('#result .card')", "an answer")


@test
def live_is_the_command_line(b, _, address):
    """A control changes the job; the numbers are those of the command line that the page shows."""
    b.size(1280, 900)
    b.open(address + "#v=simulate&a=" + BERT)
    settled(b)
    b.type("#a-cluster-count", "4")
    b.until("return (document.querySelector('#command-line') || {}).textContent.includes('/cluster/count=4')", "the command line")
    settled(b)
    b.run("document.querySelector('details#result').open = true")
    b.until("return document.querySelector('details#result pre').textContent.length > 10", "the result as JSON")
    shown = json.loads(b.run("return document.querySelector('details#result pre').textContent"))
    same(shown, result("simulate", BERT, "--set", "/cluster/count=4"), "the result")
    same("a.set=%2Fcluster%2Fcount%3D4" in b.run("return location.hash"), True, "the state in the address")
    same(address.split("/")[-2] in b.run("return location.hash"), False, "the token in the state")
    shot(b, "serve")


@test
def live_pastes(b, _, address):
    """A pasted script is read; a file that it names is not."""
    b.size(1280, 900)
    text = ("#!/bin/bash\n#SBATCH --nodes=2\nsource /etc/passwd\ntorchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
            "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 --global-batch-size 64 --fp16 --train-iters 100\n")
    b.open(address + "#v=simulate&a=paste&a.name=train.sh&a.set=/cluster/instance%3Dp4d.24xlarge")
    b.type("#atext", text)
    settled(b)
    b.until("return document.querySelector('#result').textContent.includes('2 x p4d.24xlarge')", "the script's job")
    same("root:" in b.run("return document.body.textContent"), False, "a file of the disk")


@test
def live_says_what_is_wrong(b, _, address):
    """A value that is wrong is named with its key, and the page goes on."""
    b.size(1280, 900)
    b.open(address + "#v=simulate&a=" + BERT + "&a.set=/training/precision%3Dfp99")
    b.until("return !!document.querySelector('#failure')", "what is wrong")
    same("/training/precision" in b.text("#failure"), True, "the key")


@test
def live_compares(b, _, address):
    """Two designs: the waterfall's ends are both step times."""
    b.size(1280, 900)
    b.open(address + f"#v=compare&a={BERT}&b={P4D}")
    b.until("return !!document.querySelector('#waterfall svg')", "the waterfall")
    text = b.run("return document.querySelector('#waterfall').textContent")
    for job in (BERT, P4D):
        same(f"{result('simulate', job)['step_time_s'] * 1e3:.0f} ms" in text, True, f"{job} in the waterfall")
    for side, job in (("a", BERT), ("b", P4D)):
        page = b.text(f"#side-page-{side}")
        same(f"{result('simulate', job)['step_time_s'] * 1e3:.0f}" in page and "What happens when" in page, True, f"the page of {job}")
    same(b.run("const n = [...document.querySelectorAll('[id]')].map((e) => e.id); return n.length - new Set(n).size"), 0, "ids that occur twice")
    shot(b, "serve-compare")


@test
def live_redraws(b, _, address):
    """What was drawn for one width is drawn again for another."""
    b.size(1280, 900)
    b.open(address + "#v=simulate&a=" + BERT)
    settled(b)
    wide = b.run("return document.querySelector('#timeline canvas').width")
    b.size(390, 844)
    b.until(f"return document.querySelector('#timeline canvas').width < {wide}", "a narrower timeline")
    fits_width(b, "the live page, made narrower", 390)


@test
def live_doctor(b, _, address):
    """A pasted log is held against the job: the result is the command line's."""
    b.size(1280, 900)
    b.open(address + "#v=doctor&a=" + LLAMA)
    with open(LOGS[0], encoding="utf-8") as f:
        b.run("document.querySelector('#log-text').value = arguments[0]", f.read())
    b.click("button.primary")
    b.until("return !!document.querySelector('#causes')", "causes", 60)
    r = result("doctor", LLAMA, "--log", LOGS[0])
    same(f"{r['ratio']:.3g} times as long" in b.text(".verdict"), True, "the ratio")
    same("--log=log/train.log" in b.text("#command-line"), True, "the command line")
    shot(b, "serve-doctor")


@test
def live_plans(b, _, address):
    """A search gives the plans of the command line; one opens as a design."""
    b.size(1280, 900)
    b.open(address + "#v=plan&a=blank&p.count=1..2")
    b.click("button.primary")
    b.until("return !!document.querySelector('#plans tbody tr')", "plans", 60)
    same(json.loads(b.run("const d = document.querySelector('#job-file'); d.open = true; d.dispatchEvent(new Event('toggle')); return d.querySelector('pre').textContent"))["model"], "gpt2-xl", "job.json of the command line")
    shot(b, "serve-plan")
    b.run("document.querySelector('#plans tbody button').click()")
    b.until("return !!document.querySelector('#timeline')", "the plan as a design")


@test
def live_by_keyboard_on_a_phone(b, _, address):
    """Arrows change the view; a phone shows all of it."""
    b.size(390, 844, dark=True)
    b.open(address)
    settled(b)
    fits_width(b, "the live page", 390)
    same(b.run("return document.querySelector('#fold').open"), False, "the answer first")
    b.run("document.querySelector('#fold > summary').click()")
    b.until("return document.querySelector('#fold').open", "controls by a press")
    same(b.run("return document.querySelector('#a-cluster-count').placeholder"), "1", "what the job has")
    shot(b, "serve-phone")
    b.run("document.querySelector('#tab-simulate').focus()")
    b.keys("Right")
    same(b.run("return document.querySelector('#tab-plan').getAttribute('aria-selected')"), "true", "the arrow key")


def main():
    if not is_there():
        print("browser: there is no Chromium with its driver: not run (BROWSER=1 make deps installs it)")
        return 0
    failed = 0
    server = subprocess.Popen([SMSIM, "serve"], stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        for function in done:
            try:
                function(browser, folder, address)
                bad = [m for m in browser.errors() if "400 (Bad Request)" not in m]
                same(bad, [], "errors of the page")
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"browser: {function.__name__}: {error}")
    browser.close()
    server.terminate()
    failed += server.wait(timeout=10) != 0
    print(f"browser: {len(done)} tests, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
