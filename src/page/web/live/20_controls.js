/* The controls: forms that write the state, and ask again. */
let LISTS = {}, due = 0, shown = {}; /* shown: the scenario of the last answer, by side */
let unfolded = null; /* whether the controls are open where the window is narrow; null: as the view wants */
function changed() {
  keepState();
  clearTimeout(due);
  due = setTimeout(run, 250);
}
function valueAt(tree, pointer) {
  for (const k of pointer.split("/").slice(1)) tree = tree && typeof tree === "object" ? tree[k] : undefined;
  return tree === undefined || tree === null || typeof tree === "object" ? "" : String(tree);
}
function field(name, id, input) { return el("div", { class: "field" }, el("label", { for: id }, name), input); }
/* A box for text with suggestions, a number, or a choice; empty: as the file has it. */
function control(name, id, type, value, set, hintText) {
  let input;
  const on = { input: (e) => { set(e.target.value); changed(); } };
  if (type === "number") input = el("input", { id, type: "number", min: 1, step: "any", inputmode: "numeric", placeholder: hintText || "", on });
  else if (type === "text") input = el("input", { id, type: "text", placeholder: hintText || "", autocomplete: "off", spellcheck: "false", on });
  else if (type === "lines") input = el("textarea", { id, rows: 2, placeholder: hintText || "", spellcheck: "false", on });
  else if (type === "models" || type === "instances") input = el("input", { id, type: "text", list: "list-" + type, placeholder: hintText || "", autocomplete: "off", spellcheck: "false", on });
  else input = el("select", { id, on: { change: on.input } }, el("option", { value: "" }, hintText ? "(" + hintText + ")" : "(as it is)"), LISTS[type].map((n) => el("option", { value: n }, n)));
  input.value = value || "";
  return field(name, id, input);
}
function startOptions(d) {
  const group = (label, names) => names.length ? el("optgroup", { label }, names.map((n) => el("option", { value: n }, n))) : null;
  return [el("option", { value: "blank" }, "a new job"), el("option", { value: "paste" }, "a file that you paste"),
    typeof d.job === "object" ? el("option", { value: "object" }, "a plan") : null, group("your files", LISTS.files), group("shipped scenarios", LISTS.scenarios)];
}
/* What is known of a design before its answer. */
function startOf(d) { return d.job === "blank" ? BLANK : typeof d.job === "object" ? d.job : null; }
function designForm(k) {
  const d = S[k], id = (x) => k + x.replace(/\W/g, "-");
  const start = el("select", { id: id("start"), on: { change: (e) => {
    if (e.target.value !== "object") { d.job = e.target.value; d.sets = {}; d.more = ""; delete shown[k]; }
    changed(); drawControls();
  } } }, startOptions(d));
  start.value = typeof d.job === "object" ? "object" : d.job;
  const paste = d.job === "paste" ? [
    control("File's name", id("name"), "text", d.paste.name, (v) => { d.paste.name = v; }, "train.sh"),
    field("Its text: read, never run", id("text"), el("textarea", { id: id("text"), rows: 9, class: "code", spellcheck: "false", placeholder: "#!/bin/bash\ntorchrun pretrain_gpt.py ...", on: { input: (e) => { d.paste.text = e.target.value; changed(); } } }, d.paste.text))] : null;
  const groups = { job: "Job", degrees: "Degrees", batch: "Batch and precision" };
  return el("form", { on: { submit: (e) => { e.preventDefault(); run(); } }, "aria-label": "design " + k.toUpperCase() },
    field("Start from", id("start"), start), paste,
    Object.keys(groups).map((g) => el("fieldset", null, el("legend", null, groups[g]), el("div", { class: "grid" },
      CONTROLS.filter((c) => c[3] === g).map((c) => control(c[0], id(c[1]), c[2], d.sets[c[1]], (v) => { d.sets[c[1]] = v; }, valueAt(shown[k] || startOf(d), c[1])))))),
    el("details", { open: d.more ? true : null }, el("summary", null, "Any other key"),
      field("One POINTER=VALUE a line", id("more"), el("textarea", { id: id("more"), rows: 3, class: "code", spellcheck: "false", placeholder: "/parallelism/virtual_stages=2", on: { input: (e) => { d.more = e.target.value; changed(); } } }, d.more))),
    el("button", { type: "button", on: { click: () => { S[k] = { ...design(), job: d.job, paste: d.paste }; changed(); drawControls(); } } }, "undo all changes"));
}
function planForm() {
  return el("form", { on: { submit: (e) => { e.preventDefault(); clearTimeout(due); run(true); } }, "aria-label": "search" },
    el("p", { class: "soft small" }, "Searches degrees, placement and library for design A's model and batch."),
    el("div", { class: "grid" }, PLAN_CONTROLS.map((c) => control(c[0], "plan-" + c[1], c[2], S.plan[c[1]], (v) => { S.plan[c[1]] = v; }, c[3] || (c[1] === "instance" || c[1] === "count" ? "as in the design" : "")))),
    el("button", { type: "submit", class: "primary" }, "Search"));
}
/* Logs: files of this machine are read here and sent as texts, as what is pasted is. */
const LOGS_BYTES = 900000;
function doctorForm() {
  const list = el("ul", { class: "plain small", id: "logs" }), name = el("input", { id: "log-name", type: "text", value: "train.log", autocomplete: "off", spellcheck: "false" });
  const text = el("textarea", { id: "log-text", rows: 8, class: "code", spellcheck: "false", placeholder: "iteration 10/ 1000 | elapsed time per iteration (ms): 1234.5 | ..." });
  const draw = () => list.replaceChildren(...logs.map((l, i) => el("li", null, typeof l === "string" ? l : l.name + ", " + number(l.text.length, 7) + " characters ", " ",
    el("button", { type: "button", "aria-label": "leave out " + (l.name || l), on: { click: () => { logs.splice(i, 1); draw(); } } }, "\u00d7"))));
  const put = (l) => { logs = logs.filter((x) => (x.name || x) !== (l.name || l)).concat([l]); draw(); };
  const files = el("input", { id: "log-files", type: "file", multiple: true, on: { change: async (e) => {
    for (const f of e.target.files) put({ name: f.name.replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[-.]+/, "") || "log", text: (await f.text()).replace(/\0/g, "") });
  } } });
  draw();
  return el("form", { "aria-label": "logs", on: { submit: (e) => {
    e.preventDefault();
    if (text.value.trim()) { put({ name: name.value || "train.log", text: text.value }); text.value = ""; }
    run(true);
  } } }, el("p", { class: "soft small" }, "Is a run as fast as it should be? Logs of the trainer, of NCCL with NCCL_DEBUG=INFO, CSV of nvidia-smi, traces of PyTorch's profiler as text; 0.9 MB together. Larger ones: name them when you start smsim serve."),
    LISTS.files.length ? field("Of your files", "log-known", el("select", { id: "log-known", on: { change: (e) => { if (e.target.value) put(e.target.value); e.target.value = ""; } } }, el("option", { value: "" }, "add \u2026"), LISTS.files.map((n) => el("option", { value: n }, n)))) : "",
    field("Files of this machine", "log-files", files), field("Or paste: its name", "log-name", name), field("Its text", "log-text", text), list,
    el("button", { type: "submit", class: "primary" }, "Diagnose"));
}
function narrow() { return innerWidth <= 860; }
function drawControls() {
  const box = document.getElementById("controls"), focus = document.activeElement && document.activeElement.id;
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "what to do" }, VIEWS.map(([v, name]) =>
    el("button", { type: "button", role: "tab", id: "tab-" + v, "aria-selected": String(S.view === v), tabindex: S.view === v ? 0 : -1, on: { click: () => go(v), keydown: (e) => tabKey(e, v) } }, name)));
  const sides = S.view === "compare" ? el("div", { class: "tabs small", role: "group", "aria-label": "design" }, ["a", "b"].map((k) =>
    el("button", { type: "button", id: "side-" + k, "aria-selected": String(S.on === k), on: { click: () => { S.on = k; drawControls(); } } }, "Design " + k.toUpperCase()))) : null;
  /* the answer first on phones, where nothing has to be entered before it */
  const fold = el("details", { id: "fold", open: !narrow() || (unfolded === null ? S.view === "plan" || S.view === "doctor" : unfolded) }, el("summary", { on: { click: () => { unfolded = !fold.open; } } }, "Change the job"));
  box.replaceChildren(tabs, fold);
  fold.append(sides || "", S.view === "plan" ? planForm() : S.view === "doctor" ? doctorForm() : "",
    S.view === "plan" || S.view === "doctor" ? el("details", { open: true }, el("summary", null, S.view === "plan" ? "Design A" : "The job as it was meant"), designForm("a")) : designForm(S.view === "compare" ? S.on : "a"));
  if (focus && document.getElementById(focus)) document.getElementById(focus).focus();
}
function tabKey(e, v) {
  const all = VIEWS.map((x) => x[0]), i = all.indexOf(v), to = e.key === "ArrowRight" ? i + 1 : e.key === "ArrowLeft" ? i - 1 : -1;
  if (to < 0 && e.key !== "ArrowLeft" || !/^Arrow(Left|Right)$/.test(e.key)) return;
  const next = all[(to + all.length) % all.length];
  go(next);
  document.getElementById("tab-" + next).focus();
  e.preventDefault();
}
function go(view) {
  S.view = view;
  unfolded = null;
  S.on = "a";
  if (view === "compare" && !S.b) { S.b = JSON.parse(JSON.stringify(S.a)); S.on = "b"; }
  keepState();
  drawControls();
  run();
}
/* Empty boxes show what the job has. */
function hints(scenario, k) {
  shown[k] = scenario;
  for (const c of CONTROLS) {
    const e = document.getElementById(k + c[1].replace(/\W/g, "-")), v = valueAt(scenario, c[1]);
    if (!e) continue;
    if (e.tagName === "SELECT") e.options[0].textContent = v ? "(" + v + ")" : "(as it is)";
    else e.placeholder = v;
  }
}
