/* What is asked, and what is shown of the answers. */
function run(search) {
  if (S.view === "plan") return runPlan(search === true);
  if (S.view === "doctor") return runDoctor(search === true);
  return S.view === "compare" ? runCompare() : runStep();
}
function show(d, kids) {
  D.title = d.title || "smsim";
  document.getElementById("result").replaceChildren(...[kids].flat(9).filter((x) => x));
  forget();
}
/* The files of a command line that this page made: what it would read elsewhere. */
function jobFiles(printed, jobs) {
  const named = printed && (jobs || []).filter((j) => j && typeof j === "object" && !("text" in j));
  return named && named.length === 1 && /\bjob\.json\b/.test(printed.command_line) ? folded("job.json of this line", () => JSON.stringify(named[0], null, 2), "job-file") : null;
}
function commandCard(printed, extra, jobs) {
  return card("The same elsewhere", "On the command line, or as a file of a framework.", { id: "same" }, printed ? [el("pre", { id: "command-line" }, printed.command_line), copyButton(() => printed.command_line)] : null, jobFiles(printed, jobs), extra,
    el("p", { class: "small noprint" }, copyButtonNamed("copy this view", () => toFragment(S)), el("span", { class: "soft" }, " A colleague opens it by adding it to the address of their own smsim serve. It has no token.")));
}
function copyButtonNamed(name, text) {
  const b = copyButton(text);
  b.textContent = name;
  return b;
}
function emitter(d) {
  const out = el("div"), select = el("select", { id: "emit", "aria-label": "write it as", on: { change: async (e) => {
    const as = e.target.value;
    if (!as) { out.replaceChildren(); return; }
    try {
      const r = await ask("emit", { job: jobOf(d), set: setsOf(d), options: { emit: as } });
      out.replaceChildren(r.text ? el("div", null, copyButton(() => r.text), el("pre", { id: "emitted", tabindex: "0" }, r.text)) : "", r.log ? el("pre", { class: "soft", id: "emit-log" }, r.log) : "");
    } catch (x) { out.replaceChildren(el("p", { class: "bad" }, x.errors ? x.errors.map((f) => f.text).join("; ") : "no answer")); }
  } } }, el("option", { value: "" }, "write it as \u2026"), LISTS.dialects.map((n) => el("option", { value: n }, n)));
  return el("div", { style: { margin: "10px 0 0" } }, select, out);
}
function runStep() {
  return latest(async (signal) => {
    const body = { job: jobOf(S.a), set: setsOf(S.a), page: true }, d = await ask("simulate", body, signal);
    d.palette = D.palette;
    if (d.printed && d.printed.text) d.text = d.printed.text;
    show(d, [pageOfSimulate(d), el("div", { class: "cards", style: { "margin-top": "16px" } }, commandCard(d.printed, emitter(S.a), [body.job]))]);
    hints(d.scenario, "a");
  });
}
function planOptions() {
  const o = {}, numbers = ["tokens", "max-cost", "deadline", "top"];
  for (const k in S.plan) {
    const v = String(S.plan[k]).trim();
    if (!v) continue;
    if (k === "fix" || k === "allow") o[k] = v.split("\n").map((l) => l.trim()).filter((l) => l);
    else o[k] = numbers.includes(k) ? Number(v) : v;
  }
  return o;
}
let planned = ""; /* what the plans on show are of */
function runPlan(search) {
  const body = { job: jobOf(S.a), set: setsOf(S.a), options: planOptions(), page: true }, key = JSON.stringify(body);
  if (!search && key !== planned) {
    show({}, [head("Plans", null), el("p", { class: "soft" }, "Press Search: it takes seconds, for large clusters longer.")]);
    return null;
  }
  return latest(async (signal) => {
    status("searching\u2026");
    const d = await ask("plan", body, signal);
    planned = key;
    const open = (p) => { S.a = { ...design(), job: p.scenario }; S.view = "simulate"; keepState(); drawControls(); run(); scrollTo(0, 0); };
    show(d, [head("Plans", null), planCards(d.result, open), el("div", { class: "cards", style: { "margin-top": "16px" } }, commandCard(d.printed, null, [body.job]))]);
  });
}
function runDoctor(asked) {
  if (!asked) {
    show({}, [head("Is it as fast as it should be?", null), el("p", { class: "soft" }, "Add logs of the run, say which job it was, and press Diagnose.")]);
    return null;
  }
  return latest(async (signal) => {
    if (!logs.length) throw { errors: [{ text: "there is no log: paste one, or choose a file" }] };
    if (logs.reduce((s, l) => s + (l.text ? l.text.length : 0), 0) > LOGS_BYTES) throw { errors: [{ text: "the logs are too large to be pasted", mend: "start smsim serve with their names, or cut them" }] };
    status("reading\u2026");
    const d = await ask("doctor", { job: jobOf(S.a), set: setsOf(S.a), logs, page: true }, signal);
    d.palette = D.palette;
    d.title = "Is it as fast as it should be?";
    show(d, [head(d.title, typeof S.a.job === "string" && S.a.job !== "blank" && S.a.job !== "paste" ? S.a.job : "design A"), doctorCards(d), el("div", { class: "cards", style: { "margin-top": "16px" } }, commandCard(d.printed))]);
  });
}
/* A whole page of each design, next to each other; what has a name gets another in the second. */
function pair(pages) {
  return el("div", { class: "pair", id: "pair" }, pages.map((d, i) => {
    const side = el("div", { class: "side", id: "side-page-" + "ab"[i] }, pageOfSimulate({ ...d, title: "Design " + "AB"[i] + ": " + d.title }).flat(9).filter((x) => x));
    for (const e of side.querySelectorAll("[id]")) e.id += "-" + "ab"[i];
    for (const e of side.querySelectorAll("[aria-labelledby]")) e.setAttribute("aria-labelledby", e.getAttribute("aria-labelledby") + "-" + "ab"[i]);
    return side;
  }));
}
async function both(signal) {
  return Promise.all([S.a, S.b].map(async (x) => {
    const d = await ask("simulate", { job: jobOf(x), set: setsOf(x), page: true }, signal);
    d.palette = D.palette;
    return d;
  }));
}
function runCompare() {
  return latest(async (signal) => {
    const sets = [setsOf(S.a), setsOf(S.b)], same = JSON.stringify(jobOf(S.a)) === JSON.stringify(jobOf(S.b));
    let body;
    if (same && !sets[0].length) body = { job: jobOf(S.a), options: { to: sets[1] }, page: true };
    else body = { job: await written(S.a, sets[0], signal), to: await written(S.b, sets[1], signal), page: true };
    if (same && !sets[0].length && !sets[1].length) {
      show({}, [head("What makes them differ", null), el("p", { class: "soft" }, "Both designs are the same: change something of design B.")]);
      return;
    }
    const [d, pages] = await Promise.all([ask("compare", body, signal), both(signal)]), c = d.result.comparisons[0];
    c.a = "design A"; c.b = "design B";
    hints(pages[0].scenario, "a");
    hints(pages[1].scenario, "b");
    show(d, [head("What makes them differ", "Design A and design B"), compareCards(c), pair(pages), el("div", { class: "cards", style: { "margin-top": "16px" } }, commandCard((same && !sets[0].length) || (!sets[0].length && !sets[1].length) ? d.printed : null))]);
  });
}
/* A design with what is set in it, as a scenario. */
async function written(d, sets, signal) {
  if (!sets.length) return jobOf(d);
  const r = await ask("simulate", { job: jobOf(d), set: sets, page: true }, signal);
  return r.scenario;
}
function startLive(d, page) {
  D = d;
  LISTS = d.lists;
  S = fromFragment(location.hash);
  document.body.classList.add("live");
  add(document.body, ["models", "instances"].map((k) => el("datalist", { id: "list-" + k }, LISTS[k].map((n) => el("option", { value: n })))));
  page.replaceChildren(el("aside", { id: "controls", "aria-label": "controls" }), el("main", null, el("p", { id: "status", role: "status", "aria-live": "polite" }), el("div", { id: "result" })));
  addEventListener("hashchange", () => { shown = {}; S = fromFragment(location.hash); drawControls(); run(); });
  addEventListener("resize", () => { const f = document.getElementById("fold"); if (f && !narrow()) f.open = true; });
  drawControls();
  run();
}
