/* Predictions against measurements: validate. */
const METRICS = { step_time_s: "step time", samples_per_s: "samples/s", tokens_per_s: "tokens/s", peak_bytes: "peak memory", time_s: "time", mfu: "MFU", model_flops_per_gpu_s: "FLOP/s of a GPU" };
function metricName(k) { return METRICS[k] || k.replace(/_/g, " "); }
/* Rows of a source that have both values of a quantity. */
function bothOf(source, key) {
  return source.rows.filter((r) => known(r.measured[key]) && known(r.predicted[key]) && r.measured[key] > 0 && r.predicted[key] > 0)
    .map((r) => ({ name: r.name, measured: r.measured[key], predicted: r.predicted[key], error: r.predicted[key] / r.measured[key] - 1, table: r.table }));
}
function signedPercent(v) { return known(v) ? (v < 0 ? "\u2212" : "+") + percent(Math.abs(v)) : "\u2013"; }
function sourceLines(r) {
  return r.sources.flatMap((s) => Object.keys(s.metrics).filter((k) => s.metrics[k].n > 0).map((k) => ({ s, key: k, m: s.metrics[k] })));
}
function validateVerdict(r, all) {
  const times = all.filter((l) => !/bytes/.test(l.key)), e = times.flatMap((l) => bothOf(l.s, l.key).map((b) => Math.abs(b.error))).sort((a, b) => a - b), n = e.length;
  const failed = r.sources.reduce((s, x) => s + x.failed, 0), wrong = r.sources.reduce((s, x) => s + x.wrong_fits, 0);
  if (!n) return verdictList([{ text: "No row has a time that is predicted", more: "", mark: "--warn" }]);
  return verdictList([{ text: "Half of the rows are within " + percent(e[Math.floor(n / 2)]), more: "nine of ten within " + percent(e[Math.floor(n * .9)]) + "; " + number(n, 6) + " times and rates of " + new Set(times.map((l) => l.s)).size + (r.sources.length > 1 ? " sources" : " source"), mark: "--accent" },
    { text: percent(e.reduce((a, b) => a + b, 0) / n) + " in the mean", more: "of |predicted / measured \u2212 1|", mark: "--accent" },
    { text: failed ? failed + " rows could not be simulated" : "All rows were simulated", more: wrong ? wrong + " wrong about fitting in memory" : "none wrong about fitting in memory", mark: failed ? "--bad" : "--good" }]);
}
function validateChart(line) {
  const rows = bothOf(line.s, line.key), unit = unitOf(line.key);
  if (!rows.length) return el("p", { class: "soft" }, "No row has both values.");
  const names = [...new Set(rows.map((r) => r.table || ""))], few = names.length > 1 && names.length <= 8;
  const ratios = rows.map((r) => r.predicted / r.measured), most = Math.max(1.25, ...ratios.map((v) => Math.max(v, 1 / v))) * 1.06;
  const dots = rows.map((r) => ({ x: r.measured, y: r.predicted / r.measured, series: few ? names.indexOf(r.table || "") : 0, text: [r.name, "measured " + inUnit(r.measured, unit), "predicted " + inUnit(r.predicted, unit) + ", " + signedPercent(r.error)] }));
  const marks = [.1, .2, .3, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10].filter((v) => v >= 1 / most && v <= most);
  return [pointChart(dots, { label: "predicted over measured", x: quantityAxis(rows.map((r) => r.measured), unit, { log: true }), xlabel: "measured " + metricName(line.key), ylabel: "predicted / measured", series: names,
    y: { log: true, lo: 1 / most, hi: most, ticks: most > 3 ? marks.filter((v) => [.1, .2, .5, 1, 2, 5, 10].includes(v)) : marks, show: (v) => digits(v, 3) + " x" },
    more: (s, X, Y, f) => add(s, [svg("rect", { x: f.L, width: f.R - f.L, y: Y(1.1), height: Y(1 / 1.1) - Y(1.1), fill: css("--accent"), opacity: .13 }), svg("line", { x1: f.L, x2: f.R, y1: Y(1), y2: Y(1), stroke: css("--ink"), "stroke-width": 1.3 })]) }), few ? seriesKeys(names) : null];
}
function validateRows(line) {
  const unit = unitOf(line.key), rows = bothOf(line.s, line.key).sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  return longTable([{ name: "row", text: true, wrap: true, value: (r) => r.name }, { name: "measured", value: (r) => r.measured, show: (r) => inUnit(r.measured, unit) },
    { name: "predicted", value: (r) => r.predicted, show: (r) => inUnit(r.predicted, unit) }, { name: "error", down: true, value: (r) => r.error, show: (r) => signedPercent(r.error) }], rows, { label: "rows" });
}
function validateCards(d) {
  const r = d.result, all = sourceLines(r), cards = el("div", { class: "cards" });
  if (!all.length) return [validateVerdict(r, all)];
  let at = all[0];
  const one = el("div"), open = (line) => { at = line; one.replaceChildren(...detail()); redraw(); };
  const detail = () => [el("div", { class: "choices" }, choice("Source and quantity", "source", all.map((l, i) => [String(i), l.s.name + ": " + metricName(l.key)]), String(all.indexOf(at)), (v) => open(all[+v]))),
    el("p", { class: "soft small" }, at.s.source), validateChart(at), el("h3", null, "Rows, the worst first"), validateRows(at)].flat(3).filter((x) => x);
  one.append(...detail());
  const column = (name, key, show) => ({ name, down: true, value: (l) => l.m[key], show: (l) => show(l.m[key]) });
  add(cards, [card(r.sources.length > 1 ? "Sources" : "Errors", "Of |predicted / measured \u2212 1|; the bias is signed: above zero, too much is predicted.", { id: "sources" }, table([
    { name: "source", text: true, value: (l) => l.s.name, show: (l) => all.length > 1 ? el("button", { type: "button", class: "link", on: { click: () => { open(l); document.getElementById("rows").scrollIntoView(); } } }, l.s.name) : l.s.name },
    { name: "quantity", text: true, value: (l) => metricName(l.key) }, column("rows", "n", String), column("mean", "mean_abs_error", percent), column("median", "median_abs_error", percent), column("largest", "max_abs_error", percent), column("bias", "bias", signedPercent)], all, { label: "sources" })),
    card("Row by row", ["The band is 10 % to either side.", onScreen(" Hover for the row.")], { id: "rows" }, one),
    r.applicability.length > 1 && card("By GPU, framework, nodes and tensor degree", "Errors of times and rates in each part of what was measured.", { id: "domains" }, longTable([
      { name: "GPU", text: true, value: (x) => x.gpu }, { name: "framework", text: true, value: (x) => x.framework }, { name: "nodes", value: (x) => x.nodes }, { name: "tensor", value: (x) => x.tensor }, { name: "rows", down: true, value: (x) => x.n },
      { name: "mean", down: true, value: (x) => x.mean_abs_error, show: (x) => percent(x.mean_abs_error) }, { name: "largest", down: true, value: (x) => x.max_abs_error, show: (x) => percent(x.max_abs_error) }, { name: "bias", value: (x) => x.bias, show: (x) => signedPercent(x.bias) }], r.applicability, { label: "parts" })),
    r.warnings.length > 0 && card("Warnings", null, { id: "warnings" }, findings(r.warnings)),
    card("All numbers", null, { id: "inputs" }, folded("The result as JSON", () => JSON.stringify(r, null, 2), "result"))]);
  return [validateVerdict(r, all), cards];
}
function pageOfValidate(d) {
  const r = d.result;
  return [head(r.sources.length === 1 ? r.sources[0].name : d.title, r.sources.length === 1 ? "Predicted and measured" : r.sources.length + " sources of published measurements"), validateCards(d)];
}
