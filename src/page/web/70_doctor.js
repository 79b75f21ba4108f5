/* A run against its job: doctor. */
const DOCTOR_SAYS = {
  normal: ["As fast as it should be", "--good"], slower: ["Slower than it should be", "--bad"],
  faster: ["Faster than predicted", "--warn"], no_step_time: ["The logs have no time of a step", "--warn"]
};
const RECORD_HUES = { steady: "forward", "warm-up": "other", checkpoint: "checkpoints", evaluation: "evaluation", pause: "input-wait", stall: "gradient-comm" };
function causeName(d, c) {
  if (c.kind === "as_described") return "the run is as described";
  if (c.kind === "nothing_known") return "nothing known explains it";
  return c.hypotheses.filter((h) => h).map((h) => (d.hypotheses[h] || { text: h }).text).join("; and ");
}
function doctorVerdict(d) {
  const r = d.result, p = r.prediction, m = r.measured, says = DOCTOR_SAYS[r.verdict] || [r.verdict, "--warn"], top = r.causes[0];
  const out = [{ text: says[0], more: known(r.ratio) ? digits(r.ratio, 3) + " times as long as predicted" : "no step to compare", mark: says[1] }];
  if (m && known(m.median_s)) out.push({ text: time(m.median_s) + " a step, measured", more: "predicted " + time(p.step_time_s) + " (" + range([p.least_s, p.most_s], p.step_time_s, TIMES) + ")", mark: "--accent" });
  if (top && r.verdict !== "normal" || top && top.kind === "known" && top.posterior >= .5) out.push({ text: percent(top.posterior, 0) + ": " + causeName(d, top), more: top.seen ? "seen: " + top.seen : "by how well it explains the logs", mark: "--warn" });
  if (top && top.kind === "known" && top.saves_s > 0) out.push({ text: "Mending it saves " + time(top.saves_s) + " a step", more: known(top.saves_usd_per_day) ? number(Math.round(top.saves_usd_per_day)) + " USD a day" : "", mark: "--good" });
  return verdictList(out);
}
/* Each step's time, by step, over the predicted range. */
function recordChart(d) {
  const rows = d.records.rows, kinds = d.records.kinds, p = d.result.prediction;
  if (rows.length < 2) return null;
  const order = rows.every((r, i) => i === 0 || r[0] > rows[i - 1][0]), x = (r, i) => order ? r[0] : i + 1;
  const span = x(rows[rows.length - 1], rows.length - 1) - x(rows[0], 0), ys = rows.map((r) => r[1]).concat([p.least_s, p.most_s]), lo = Math.min(...ys), hi = Math.max(...ys), log = hi / lo > 6;
  const unit = timeUnit(log ? Math.sqrt(lo * hi) * 3 : hi), used = kinds.filter((k, i) => rows.some((r) => r[2] === i));
  const box = chart({ label: "time of each step", id: "records-chart", height: 280, left: 74, xlabel: order ? "step" : "record", x: { lo: x(rows[0], 0) - span * .02, hi: x(rows[rows.length - 1], rows.length - 1) + span * .02, show: (v) => v === Math.round(v) ? number(v, 5) : "" },
    y: { log, lo: log ? lo * .85 : 0, hi: hi * (log ? 1.2 : 1.08), unit: unit[1], ticks: log ? timeTicks(lo * .85, hi * 1.2) : null, show: (v) => log ? time(v) : digits(+(v / unit[1]).toPrecision(4), 4) + " " + unit[0] } }, (s, X, Y, f) => {
    add(s, [svg("rect", { x: f.L, width: f.R - f.L, y: Y(p.most_s), height: Math.max(2, Y(p.least_s) - Y(p.most_s)), fill: css("--accent"), opacity: .18 }),
      svg("line", { x1: f.L, x2: f.R, y1: Y(p.step_time_s), y2: Y(p.step_time_s), stroke: css("--accent"), "stroke-width": 1.6 }),
      svg("text", { x: f.R - 4, y: Y(p.most_s) - 5, "text-anchor": "end", class: "strong" }, "predicted, with its range")]);
    const dots = rows.map((r, i) => [X(x(r, i)), Y(r[1]), r, i]);
    for (const [px, py, r] of dots) add(s, [svg("circle", { cx: px.toFixed(1), cy: py.toFixed(1), r: r[2] === 0 ? 2.6 : 4, fill: colour(RECORD_HUES[kinds[r[2]]]) })]);
    s.addEventListener("pointermove", (e) => {
      const b = s.getBoundingClientRect(), mx = e.clientX - b.left, near = dots.reduce((a, q) => Math.abs(q[0] - mx) < Math.abs(a[0] - mx) ? q : a);
      tip(e, lines((order ? "step " : "record ") + x(near[2], near[3]), time(near[2][1]) + ", " + kinds[near[2][2]], digits(near[2][1] / p.step_time_s, 3) + " x the prediction"));
    });
    s.addEventListener("pointerleave", () => tip(null, null));
  });
  return card("Each step", d.records.longest_of > 1 ? "The longest of every " + d.records.longest_of + " records." : "As the logs have them.", { id: "records" }, box, keys(used.map((k) => ({ name: k, meaning: RECORD_HUES[k] }))));
}
function timeTicks(lo, hi) {
  const all = TIMES.flatMap((u) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((k) => k * u[1])).filter((v) => v >= lo && v <= hi);
  return [...new Set(all.map((v) => +v.toPrecision(6)))].sort((a, b) => a - b)
    .reduce((kept, v) => kept.length && v / kept[kept.length - 1] < Math.max(1.6, Math.pow(hi / lo, .12)) ? kept : kept.concat(v), []);
}
function causeDetails(d, c) {
  const checks = c.hypotheses.filter((h) => h && d.hypotheses[h]).map((h) => d.hypotheses[h].check).filter((t) => t);
  return [c.seen && el("p", { class: "small" }, el("b", null, "Seen: "), c.seen),
    known(c.step_time_s) && el("p", { class: "small" }, el("b", null, "Predicted with it: "), time(c.step_time_s) + " a step", c.saves_s > 0 ? "; the mend saves " + time(c.saves_s) + (known(c.saves_usd_per_day) ? ", " + number(Math.round(c.saves_usd_per_day)) + " USD a day" : "") : ""),
    checks.map((t) => el("p", { class: "small" }, el("b", null, "Check and mend: "), t))];
}
function causeBar(share) { return el("div", { class: "bar", style: { height: "8px", "max-width": "320px" }, "aria-hidden": "true" }, el("i", { style: { width: 100 * share + "%", background: css("--accent") } })); }
function causesCard(d) {
  const r = d.result, shown = r.classes.filter((k, i) => i === 0 || k.posterior >= .01).slice(0, 6);
  if (!shown.length) return null;
  return card("What explains it", "How probable each cause is, by time, memory and what the logs say; " + r.causes.length + " were simulated or judged.", { id: "causes" }, el("ol", { class: "causes" }, shown.map((k) => {
    const first = r.causes[k.causes[0]], members = k.causes.map((i) => r.causes[i]).filter((c) => c.posterior >= .01), alone = members.length <= 1;
    const of = [...new Set(members.flatMap((c) => c.hypotheses).map((h) => d.hypotheses[h].family))].map((x) => d.families[x]);
    return el("li", null, el("div", { class: "cause" }, el("b", { class: "num" }, percent(k.posterior, 0)), el("span", null, alone ? causeName(d, first) : of.map((f) => f.text).join("; "))), causeBar(k.posterior),
      alone ? causeDetails(d, first) : [el("p", { class: "small soft" }, "The logs do not separate these. What would: " + [...new Set(of.map((f) => f.logs))].join("; ") + "."),
        el("ul", { class: "plain small" }, members.slice(0, 6).map((c) => el("li", null, percent(c.posterior, 0) + "  " + causeName(d, c)))), causeDetails(d, first)]);
  })));
}
function doctorTiles(r) {
  const p = r.prediction, m = r.measured || {}, split = (t) => { const i = t.lastIndexOf(" "); return i < 0 ? [t, ""] : [t.slice(0, i), t.slice(i + 1)]; };
  const box = el("div", { class: "tiles" }), lost = (m.kinds || []).reduce((s, k) => s + (k.lost_s || 0), 0);
  drawn(box, () => {
    const me = split(time(m.median_s)), pr = split(time(p.step_time_s));
    box.replaceChildren(...[tile("Measured", me[0], me[1], known(m.p10_s) ? "p10 to p90: " + range([m.p10_s, m.p90_s], m.median_s, TIMES) : "no steady step", rangeBar([m.p10_s, m.p90_s], m.median_s, "spread of the steps")),
      tile("Predicted", pr[0], pr[1], "range " + range([p.least_s, p.most_s], p.step_time_s, TIMES), rangeBar([p.least_s, p.most_s], p.step_time_s, "range of the prediction")),
      tile("Measured / predicted", known(r.ratio) ? digits(r.ratio, 3) : "\u2013", "x", r.verdict === "normal" ? "within the range" : "outside the range"),
      tile("Records", known(m.records) ? String(m.records) : "0", "", m.format || "none"),
      tile("Lost in other steps", lost > 0 ? split(time(lost))[0] : "0", lost > 0 ? split(time(lost))[1] : "s", "warm-up, checkpoints, evaluation, stalls"),
      known(m.allocated_bytes) ? tile("Memory", split(bytes(m.allocated_bytes))[0], split(bytes(m.allocated_bytes))[1], "allocated; predicted " + bytes(p.allocated_bytes)) : tile("Price", known(p.usd_per_hour) ? number(p.usd_per_hour, 4) : "\u2013", "USD/h", known(m.median_s) && known(p.usd_per_hour) ? number(p.usd_per_hour * m.median_s / 3600, 3) + " USD a step as measured" : "")]);
  });
  return box;
}
function sharesCard(r) {
  if (!r.traced_shares || !r.predicted_shares) return null;
  const rows = [["computing", "compute", "compute"], ["communication, exposed", "communication", "gradient-comm"], ["waiting", "waiting", "input-wait"]];
  return card("Where the traced time goes", "Shares of a step in the traces, and in the prediction.", { half: true, id: "shares" }, table([{ name: "", text: true, wrap: true, show: (x) => x[0] },
    { name: "trace", show: (x) => percent(r.traced_shares[x[1]]) }, { name: "predicted", show: (x) => percent(r.predicted_shares[x[1]]) },
    { name: "more", show: (x) => { const v = r.traced_shares[x[1]] - r.predicted_shares[x[1]]; return (v < 0 ? "\u2212" : "+") + percent(Math.abs(v)); } }], rows, { label: "shares" }));
}
const KERNELS = { products: "compute", convolutions: "compute", attention: "forward", softmax: "forward", optimizer: "optimizer", other: "other", copies: "copy", communication: "gradient-comm" };
function traceCard(t) {
  const rows = Object.keys(t.kernel_time_s || {}).filter((k) => t.kernel_time_s[k] > 0).map((k) => ({ name: k + ", " + t.kernel_number[k] + " kernels", meaning: KERNELS[k] || "other", value: t.kernel_time_s[k] }));
  const m = t.mean, idle = m ? m.idle_s + m.copies_s : 0;
  if (!rows.length) return null;
  if (idle > 0) rows.push({ name: "GPU idle, or copies alone", meaning: "input-wait", value: idle });
  return card("Trace of rank " + t.rank, [t.device, t.nccl_version && "NCCL " + t.nccl_version, number(t.kernels, 6) + " kernels", t.steps_kept + " steps: kernels of a step"].filter((x) => x).join(", ") + ".", { half: true }, parts(rows, Math.max(m ? m.step_time_s : 0, rows.reduce((s, x) => s + x.value, 0)), time));
}
function gpuCard(r) {
  if (!r.gpus.length) return null;
  const mean = (g, v) => g.busy_samples > 0 ? v / g.busy_samples : NaN;
  return card("GPUs", "Means of the samples in which they were busy.", { id: "gpus" }, table([{ name: "GPU", text: true, value: (g) => g.index },
    { name: "clock, MHz", down: true, value: (g) => mean(g, g.clock_mhz), show: (g) => number(mean(g, g.clock_mhz), 4) }, { name: "power, W", down: true, value: (g) => mean(g, g.power_w), show: (g) => number(mean(g, g.power_w), 3) },
    { name: "throttled by power", down: true, value: (g) => mean(g, g.power_throttled), show: (g) => percent(mean(g, g.power_throttled), 0) }, { name: "by heat", down: true, value: (g) => mean(g, g.heat_throttled), show: (g) => percent(mean(g, g.heat_throttled), 0) },
    { name: "PCIe", value: (g) => g.pcie_width, show: (g) => g.pcie_width > 0 ? "x" + g.pcie_width : "\u2013" }], r.gpus, { label: "GPUs" }));
}
function ncclCard(n) {
  if (!n) return null;
  const rows = [["version", n.version], ["network", n.network], ["provider", n.provider], ["plugin", n.plugin], ["largest communicator", n.ranks && n.ranks + " ranks"], ["NICs found", n.nics || ""], ["channels", n.channels || ""],
    ["connections", [["libfabric", n.by_libfabric], ["verbs", n.by_verbs], ["sockets", n.by_sockets], ["P2P", n.by_p2p], ["shared memory", n.by_shared_memory]].filter((x) => x[1]).map((x) => x[1] + " by " + x[0]).join(", ")], ["GPUDirect RDMA", n.with_gpudirect || ""]];
  return card("NCCL", "What its log says.", { half: true, id: "nccl" }, el("dl", null, rows.filter((x) => x[1]).map((x) => [el("dt", null, x[0]), el("dd", null, String(x[1]))])));
}
function doctorKinds(m) {
  return m && m.kinds.length > 0 && card("Kinds of steps", "What is slower than steady steps is set apart.", { half: true, id: "kinds" }, table([{ name: "", text: true, value: (k) => k.kind }, { name: "records", down: true, value: (k) => k.records },
    { name: "longest", down: true, value: (k) => k.longest_s, show: (k) => time(k.longest_s) }, { name: "lost", down: true, value: (k) => k.lost_s, show: (k) => k.lost_s > 0 ? time(k.lost_s) : "\u2013" },
    { name: "first at step", value: (k) => k.first_step, show: (k) => k.first_step >= 0 ? k.first_step + (k.first_line > 0 ? ", line " + k.first_line : "") : "\u2013" }], m.kinds, { label: "kinds of steps" }));
}
function readCard(d) {
  const r = d.result, notes = Object.keys(r.notices || {});
  return card("What was read", null, { half: true, id: "read" }, el("ul", { class: "plain" }, r.files.map((f) => el("li", null, el("code", null, f.file), ": " + (f.events ? number(f.events) + " events of a trace" : number(f.lines) + " lines"), f.cut ? ", too large: the rest was left out" : ""))),
    notes.length > 0 && [el("h3", null, "Lines of note"), el("ul", { class: "plain" }, notes.map((k) => el("li", null, r.notices[k] + " x " + k)))],
    r.variables.length > 0 && [el("h3", null, "Variables"), el("ul", { class: "plain" }, r.variables.map((v) => el("li", null, el("code", null, v.name + "=" + v.value), v.hurts ? el("span", { class: "warn" }, " " + v.hurts) : null)))]);
}
function doctorCards(d) {
  const r = d.result;
  return [doctorVerdict(d), doctorTiles(r), el("div", { class: "cards" }, recordChart(d), causesCard(d), doctorKinds(r.measured), sharesCard(r), r.traces.slice(0, 8).map(traceCard), ncclCard(r.nccl), gpuCard(r), readCard(d),
    card("All numbers", null, { id: "inputs" }, folded("The result as JSON", () => JSON.stringify(r, null, 2), "result"), d.text && folded("As the terminal prints it", d.text, "text")))];
}
function pageOfDoctor(d) {
  return [head("Is it as fast as it should be?", d.result.job), doctorCards(d)];
}
