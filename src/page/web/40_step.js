/* A simulated step. */
function verdict(r) {
  const out = [], m = r.memory, left = m.capacity_bytes - m.peak_bytes;
  out.push({ text: m.fits ? (m.near_limit ? "May not fit: " + bytes(left) + " left" : "Fits with " + bytes(left) + " left")
      : (m.near_limit ? "Does not fit by " + bytes(-left) + ", within the error" : "Does not fit: " + bytes(-left) + " too much"),
    more: bytes(m.peak_bytes) + " of " + bytes(m.capacity_bytes) + (m.stages.length > 1 ? " on the fullest stage" : ""),
    mark: m.fits ? (m.near_limit ? "--warn" : "--good") : "--bad" });
  out.push({ text: time(r.step_time_s) + " a step", more: range(r.range.step_time_s, r.step_time_s, TIMES) + ", " + r.range.grade, mark: "--accent" });
  out.push(binds(r));
  return out;
}
/* What is largest of the time and can be changed: computing is only where nothing else is. */
function binds(r) {
  const shares = Object.keys(r.breakdown_s).filter((k) => k !== "data_comm_hidden" && k in PARTS)
    .map((k) => [k, r.breakdown_s[k] / r.step_time_s]).sort((a, b) => b[1] - a[1]);
  const other = shares.find((s) => s[0] !== "compute"), compute = shares.find((s) => s[0] === "compute") || ["compute", 0];
  const top = other && other[1] >= .1 ? other : compute;
  const rest = shares.filter((s) => s[0] !== top[0] && s[1] >= .01).slice(0, 2).map((s) => percent(s[1], 0) + " " + PARTS[s[0]][0]);
  return { text: percent(top[1], 0) + " " + PARTS[top[0]][2], more: rest.length ? "then " + rest.join(", ") : "nothing else takes 1 %",
    meaning: PARTS[top[0]][1] };
}
function verdictList(items) {
  const ul = el("ul", { class: "verdict", "aria-label": "verdict" });
  drawn(ul, () => ul.replaceChildren(...items.map((v) => el("li", { style: { "--mark": v.meaning ? colour(v.meaning) : css(v.mark) } }, v.text, el("small", null, v.more)))));
  return ul;
}
function gauge(value, limit, lo, hi) {
  const most = Math.max(limit, hi || value) * 1.02, x = (v) => (100 * v / most).toFixed(2) + "%";
  return svg("svg", { height: 12, role: "img", "aria-label": percent(value / limit, 0) + " of the capacity" },
    svg("rect", { x: 0, y: 3, width: "100%", height: 6, rx: 3, fill: css("--grid") }),
    svg("rect", { x: 0, y: 3, width: x(value), height: 6, rx: 3, fill: css(value > limit ? "--bad" : "--accent") }),
    svg("rect", { x: x(limit), y: 0, width: 2, height: 12, fill: css("--ink") }));
}
function stepTiles(r) {
  const box = el("div", { class: "tiles" }), c = r.cost, split = (t) => { const i = t.lastIndexOf(" "); return [t.slice(0, i), t.slice(i + 1)]; };
  drawn(box, () => {
    const st = split(time(r.step_time_s)), fl = split(flops(r.model_flops_per_gpu_s)), pk = split(bytes(r.memory.peak_bytes));
    box.replaceChildren(
      tile("Step time", st[0], st[1], range(r.range.step_time_s, r.step_time_s, TIMES) + ", " + r.range.grade, rangeBar(r.range.step_time_s, r.step_time_s, "range of the step time")),
      tile("Throughput", number(r.samples_per_s, 4), "samples/s", number(r.tokens_per_s, 5) + " tokens/s" + (known(r.real_tokens_per_s) ? ", " + number(r.real_tokens_per_s, 5) + " without padding" : "")),
      tile("Model FLOPs", percent(r.mfu).replace(" %", ""), "% MFU", fl.join(" ") + " a GPU, HFU " + percent(r.hfu)),
      tile("Memory", pk[0], pk[1], "of " + bytes(r.memory.capacity_bytes) + "; range " + range(r.memory.range_bytes, r.memory.peak_bytes, BYTES), gauge(r.memory.peak_bytes, r.memory.capacity_bytes, r.memory.range_bytes[0], r.memory.range_bytes[1])),
      known(c.usd_per_hour) ? tile("Cost", known(c.usd_per_job) ? number(c.usd_per_job, 3) : number(c.usd_per_step, 3), known(c.usd_per_job) ? "USD the job" : "USD a step",
        number(c.usd_per_hour, 5) + " USD/h, prices of " + (c.price_list ? c.price_list + ", " : "") + c.price_date + (known(c.hours_per_job) ? "; " + digits(c.hours_per_job, 3) + " h" : "")) : tile("Cost", "\u2013", "", "no price is known"),
      tile("Busy", percent(r.utilization.gpu, 0).replace(" %", ""), "% GPU", "host " + percent(r.utilization.host, 0) + ", network " + percent(r.utilization.nic, 0) + ", NVLink " + percent(r.utilization.nvlink, 0)));
  });
  return box;
}
function heldRows(stage) {
  return Object.keys(HELD).filter((k) => stage[k] > 0).map((k) => ({ name: HELD[k][0], meaning: HELD[k][1], value: stage[k] }));
}
function timeRows(r) {
  const rows = Object.keys(PARTS).filter((k) => r.breakdown_s[k] > 5e-5 * r.step_time_s).map((k) => ({ name: PARTS[k][0], meaning: PARTS[k][1], value: r.breakdown_s[k], aside: k === "data_comm_hidden" }));
  return rows.filter((x) => !x.aside).concat(rows.filter((x) => x.aside));
}
function stageTable(m) {
  const column = (key, name) => ({ name, down: true, value: (s) => s[key], show: (s) => bytes(s[key]) });
  return table([{ name: "stage", text: true, value: (s) => s.stage },
    { name: "in all", down: true, value: (s) => s.peak_bytes, show: (s) => bytes(s.peak_bytes) },
    { name: "left", value: (s) => m.capacity_bytes - s.peak_bytes, show: (s) => {
      const left = m.capacity_bytes - s.peak_bytes;
      return left < 0 ? el("span", { class: "bad" }, "\u2212" + bytes(-left)) : bytes(left); } },
    { name: "by kind", text: true, show: (s) => {
      const bar = el("div", { class: "bar", style: { width: "150px" } });
      drawn(bar, () => bar.replaceChildren(...heldRows(s).map((r) => el("i", { style: { width: 100 * r.value / Math.max(m.capacity_bytes, s.peak_bytes) + "%", background: colour(r.meaning) } }))));
      hint(bar, () => lines("stage " + s.stage, heldRows(s).map((r) => r.name + ": " + bytes(r.value))));
      return bar; } },
    ...Object.keys(HELD).filter((k) => k !== "framework").map((k) => column(k, HELD[k][0]))], m.stages, { label: "memory of the stages" });
}
function jobCard(job) {
  if (!job || !job.phases) return null;
  const meanings = { image_download: "image", data_download: "data", model_upload: "upload", keep_alive: "keep-alive" };
  const rows = job.phases.filter((p) => p.time_s > 0).map((p) => ({ name: p.phase.replace(/_/g, " ") + (p.billed ? "" : " (not billed)"),
    meaning: meanings[p.phase] || p.phase, value: p.time_s }));
  const total = rows.reduce((s, r) => s + r.value, 0);
  return total > 0 && card("The whole job", digits(job.hours, 3) + " h in " + number(job.steps) + " steps" + (known(job.usd) ? ", " + usd(job.usd) : "") + ".", { id: "job" }, parts(rows, total, time));
}
function inputsCard(d) {
  const r = d.result;
  return card("Inputs and results", "The file that was read, with what the command line changed; all numbers.", { id: "inputs" },
    d.scenario && folded("The scenario as JSON", () => JSON.stringify(d.scenario, null, 2), "scenario"),
    folded("The result as JSON", () => JSON.stringify(r, null, 2), "result"), d.text && folded("As the terminal prints it", d.text, "text"));
}
function trustCard(r) {
  const p = r.provenance, list = (v) => [v].flat().filter((x) => x).join(", ");
  return card("How far to trust it", r.range.grade + ": the range is made of the errors of measured jobs near this one.", { half: true, id: "trust" },
    el("dl", null, [["nearest measured", r.range.nearest.join("; ")], ["GPU profile", list(p.gpus)], ["instance", list(p.instances)], ["links inside", list(p.inside)],
      ["network", list(p.network)], ["framework", list(p.framework)], ["prices", list([r.cost.price_list, r.cost.price_date])]].filter((x) => x[1]).map((x) => [el("dt", null, x[0]), el("dd", null, x[1])]),
      el("dt", null, "simulated"), el("dd", null, r.simulation.network + " fidelity, " + (r.simulation.folded ? "equal ranks folded" : "every rank") + ", " + number(r.simulation.events) + " events")));
}
function assumedCard(r) {
  return card("Warnings and assumptions", null, { half: true, id: "warnings" },
    r.warnings.length ? [el("h3", { class: "warn" }, r.warnings.length + (r.warnings.length > 1 ? " warnings" : " warning")), findings(r.warnings)] : el("p", { class: "soft" }, "No warnings."),
    r.assumed.length ? [el("h3", null, "Assumed, as the input does not say"), el("ul", { class: "plain" }, r.assumed.map((a) =>
      el("li", null, el("code", null, a.pointer + "=" + a.value), a.why ? el("span", { class: "soft" }, " (" + a.why + ")") : null)))] : null,
    r.memory.remedies.length ? [el("h3", null, "Would fit with"), el("ul", { class: "plain" }, r.memory.remedies.map((x) =>
      el("li", null, el("code", null, x.set), " ", bytes(x.peak_bytes), x.near_limit ? " (may not fit), " : ", ", time(x.step_time_s))))] : null);
}
function stepCards(d) {
  const r = d.result, m = r.memory, fullest = m.stages.reduce((a, b) => b.peak_bytes > a.peak_bytes ? b : a);
  const held = d.memory && Object.keys(HELD).map((k) => ({ name: HELD[k][0], meaning: HELD[k][1], values: d.memory.held_bytes[k] }));
  const busy = d.use && [["gpu", "GPU", "compute"], ["host", "host", "host"], ["nic", "busiest network card", "gradient-comm"], ["nvlink", "busiest NVLink", "tensor-comm"]]
    .map((x) => ({ name: x[1], meaning: x[2], values: d.use.busy[x[0]] })).filter((x) => x.values.some((v) => v > 0));
  return [d.timeline && timeline(d.timeline),
    card("Where the time goes", "On the critical rank, of " + time(r.step_time_s) + ".", { half: true, id: "breakdown" }, parts(timeRows(r), r.step_time_s, time)),
    card("Memory by kind", (m.stages.length > 1 ? "Of stage " + fullest.stage + ", the fullest: " : "") + bytes(m.peak_bytes) + " of " + bytes(m.capacity_bytes) + ".", { half: true, id: "memory" },
      parts(heldRows(fullest), Math.max(m.capacity_bytes, m.peak_bytes), bytes)),
    held && card("Memory over time", m.stages.length > 1 ? "Of stage " + d.memory.stage + ", the fullest; the fullest moment of each stretch." : "The fullest moment of each stretch.", { half: true, id: "memory-time" },
      areas(held, d.memory.end_s, m.capacity_bytes, { label: "memory over time", height: 276, left: 70, top: 28, phases: d.memory.phases }), keys(held)),
    busy && busy.length && card("What is busy when", "Share of each stretch of the step" + (m.stages.length > 1 ? ", mean over the stages" : "") + ".", { half: true, id: "use" },
      shares(busy, d.use.end_s, { label: "use over time", height: 260 }), keys(busy)),
    m.stages.length > 1 && card("Stages", ["At the fullest moment of each.", onScreen(" Press a heading to sort.")], { id: "stages" }, stageTable(m)),
    jobCard(r.job), assumedCard(r), trustCard(r), inputsCard(d)];
}
function pageOfSimulate(d) {
  const facts = d.facts || [];
  return [head(d.title, facts.slice(2).map((f) => (f[0] === "degrees" || f[0] === "library" || f[0] === "precision" ? "" : f[0] + " ") + f[1]).join(" \u00b7 ")),
    verdictList(verdict(d.result)), stepTiles(d.result), el("div", { class: "cards" }, stepCards(d))];
}
function head(title, sub) {
  return el("header", null, el("p", { class: "brand" }, "smsim"), el("h1", null, title), sub && el("p", { class: "sub" }, sub));
}
