/* smsim serve: the state of the view, which lives in the address's fragment. */
const BLANK = { model: "gpt2-xl", cluster: { instance: "p4d.24xlarge", count: 1 },
  training: { sequence_length: 1024, global_batch_size: 64, micro_batch_size: 4, precision: "bf16" }, parallelism: { library: "ddp" } };
const VIEWS = [["simulate", "Simulate"], ["plan", "Plan"], ["compare", "Compare"], ["doctor", "Doctor"]];
const PASTE_IN_ADDRESS = 6000; /* characters; a longer text stays out of it */
const CONTROLS = [ /* name, pointer, list or type, group */
  ["Model", "/model", "models", "job"], ["Instance", "/cluster/instance", "instances", "job"], ["Instances", "/cluster/count", "number", "job"],
  ["Library", "/parallelism/library", "libraries", "job"],
  ["Tensor", "/parallelism/tensor", "number", "degrees"], ["Pipeline", "/parallelism/pipeline", "number", "degrees"],
  ["Context", "/parallelism/context", "number", "degrees"], ["Expert", "/parallelism/expert", "number", "degrees"],
  ["Schedule", "/parallelism/schedule", "schedules", "degrees"], ["Sharding", "/parallelism/sharding/strategy", "shardings", "degrees"],
  ["Global batch", "/training/global_batch_size", "number", "batch"], ["Micro-batch", "/training/micro_batch_size", "number", "batch"],
  ["Sequence length", "/training/sequence_length", "number", "batch"], ["Precision", "/training/precision", "precisions", "batch"],
  ["Checkpointing", "/training/activation_checkpointing", "checkpointing", "batch"], ["Attention", "/training/attention", "attentions", "batch"],
  ["Optimizer", "/training/optimizer", "optimizers", "batch"]
];
const PLAN_CONTROLS = [["Instances", "instance", "text", "p4d.24xlarge,p5.48xlarge"], ["Count", "count", "text", "16..64"], ["Objective", "objective", "objectives"],
  ["Tokens to train on", "tokens", "number"], ["Budget, USD", "max-cost", "number"], ["Deadline, h", "deadline", "number"], ["Rows", "top", "number", "10"],
  ["Fix", "fix", "lines", "tensor=8"], ["Allow", "allow", "lines", "library=fsdp,ddp"]];

/* A design: what it starts from, and what is set. */
function design() { return { job: "blank", paste: { name: "train.sh", text: "" }, sets: {}, more: "" }; }
let S = { view: "simulate", on: "a", a: design(), b: null, plan: {} };
let logs = []; /* { name, text }, or names of files of the server; too large for the address */

function jobOf(d) {
  return d.job === "blank" ? BLANK : d.job === "paste" ? { name: d.paste.name || "train.sh", text: d.paste.text } : d.job;
}
function setsOf(d) {
  return Object.keys(d.sets).filter((k) => d.sets[k] !== "").map((k) => k + "=" + d.sets[k]).concat(d.more.split("\n").map((l) => l.trim()).filter((l) => l));
}
function toFragment(s) {
  const q = new URLSearchParams();
  q.set("v", s.view);
  for (const k of ["a", "b"]) {
    const d = s[k];
    if (!d) continue;
    q.set(k, typeof d.job === "object" ? JSON.stringify(d.job) : d.job);
    for (const p in d.sets) if (d.sets[p] !== "") q.append(k + ".set", p + "=" + d.sets[p]);
    if (d.more.trim()) q.set(k + ".more", d.more);
    if (d.job === "paste") { q.set(k + ".name", d.paste.name); if (d.paste.text.length <= PASTE_IN_ADDRESS) q.set(k + ".text", d.paste.text); }
  }
  for (const k in s.plan) if (s.plan[k] !== "") q.set("p." + k, s.plan[k]);
  return "#" + q.toString();
}
function fromFragment(text) {
  const q = new URLSearchParams(text.replace(/^#/, "")), views = VIEWS.map((v) => v[0]);
  const s = { view: views.includes(q.get("v")) ? q.get("v") : "simulate", on: "a", a: design(), b: null, plan: {} };
  for (const k of ["a", "b"]) {
    if (!q.has(k)) continue;
    const d = s[k] = design(), job = q.get(k);
    d.job = job;
    if (job.startsWith("{")) try { d.job = JSON.parse(job); } catch (e) { d.job = "blank"; }
    for (const line of q.getAll(k + ".set")) { const i = line.indexOf("="); if (i > 0) d.sets[line.slice(0, i)] = line.slice(i + 1); }
    d.more = q.get(k + ".more") || "";
    d.paste = { name: q.get(k + ".name") || "train.sh", text: q.get(k + ".text") || "" };
  }
  q.forEach((v, k) => { if (k.startsWith("p.")) s.plan[k.slice(2)] = v; });
  return s;
}
function keepState() { history.replaceState(null, "", toFragment(S)); }

/* Requests --------------------------------------------------------------------------- */
async function ask(name, body, signal) {
  const r = await fetch("api/" + name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  const answer = await r.json();
  if (!r.ok) throw answer;
  return answer;
}
let running = null;
/* The answer of the newest request alone is shown. */
async function latest(work) {
  if (running) running.abort();
  const mine = running = new AbortController();
  status("working\u2026");
  try {
    await work(mine.signal);
    if (running === mine) status("");
  } catch (e) {
    if (running !== mine || (e && e.name === "AbortError")) return;
    status("");
    showFailure(e);
  }
}
let ticking = 0; /* a wait of more than two seconds is counted */
function status(text) {
  const s = document.getElementById("status"), since = Date.now();
  clearInterval(ticking);
  if (s) s.textContent = text;
  if (s && text) ticking = setInterval(() => {
    const waited = Math.floor((Date.now() - since) / 1000);
    if (waited >= 2) s.replaceChildren(text + " ", el("span", { "aria-hidden": "true" }, waited + " s"));
  }, 500);
  document.body.setAttribute("aria-busy", text ? "true" : "false");
}
function showFailure(e) {
  const errors = e && e.errors ? e.errors : [{ text: "the server does not answer (is smsim serve still running?)" }];
  document.getElementById("result").replaceChildren(el("div", { class: "cards" }, card("This does not work as it is", null, { id: "failure" },
    el("ul", { class: "plain" }, errors.map((x) => el("li", null, x.pointer && el("code", null, x.pointer), x.pointer ? ": " : "", x.text, x.mend && el("span", { class: "soft" }, " (" + x.mend + ")"),
      x.file && el("span", { class: "soft small" }, " " + x.file + (x.line ? ":" + x.line : ""))))),
    e && e.warnings && e.warnings.length ? [el("h3", { class: "warn" }, "Warnings"), findings(e.warnings)] : null)));
}
