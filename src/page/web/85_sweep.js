/* A grid of points: sweep. */
function sweepAxis(c) { return c.label + (c.unit_text ? " (" + c.unit_text + ")" : ""); }
function sweepCell(c, v) { return v === null || v === undefined ? "\u2013" : inUnit(v, c.unit); }
/* Which columns vary: the axes first. */
function sweepChoice(d) {
  const r = d.result, cs = r.columns, varies = cs.map((c, i) => new Set(r.rows.map((row) => JSON.stringify(row[i]))).size);
  const numbers = cs.map((c, i) => r.rows.some((row) => known(row[i])) && varies[i] > 1), named = d.figures[0], find = (name) => cs.findIndex((c) => c.name === name);
  let x = named ? find(named.x) : -1, y = named ? find(named.y) : -1;
  if (x < 0) x = cs.findIndex((c, i) => c.axis && numbers[i]);
  if (x < 0) x = cs.findIndex((c, i) => c.axis && varies[i] > 1);
  if (y < 0 || !numbers[y]) y = cs.findIndex((c, i) => !c.axis && numbers[i]);
  const series = cs.map((c, i) => i).filter((i) => cs[i].axis && varies[i] > 1 && i !== x && !(cs[x] && cs[x].name === "gpus" && cs[i].name === "/cluster/count"));
  return { x: Math.max(0, x), y, series, numbers, varies };
}
function sweepChart(d, c) {
  const r = d.result, cs = r.columns, cx = cs[c.x], cy = cs[c.y], rows = r.rows.filter((row) => known(row[c.y]) && row[c.x] !== null), by = (row) => c.series.map((i) => sweepCell(cs[i], row[i])).join(", ");
  if (!rows.length) return el("p", { class: "soft" }, "No point has both values.");
  const names = [...new Set(rows.map(by))], words = !rows.every((row) => known(row[c.x])), values = words ? [...new Set(rows.map((row) => String(row[c.x])))] : null;
  const X = (row) => words ? values.indexOf(String(row[c.x])) : row[c.x], xs = rows.map(X);
  const dots = rows.map((row) => ({ x: X(row), y: row[c.y], series: names.indexOf(by(row)), text: [by(row) || cy.label, cx.label + ": " + sweepCell(cx, row[c.x]), ...cs.map((q, i) => [q, i]).filter(([q, i]) => !q.axis && i !== c.x && row[i] !== null).slice(0, 8).map(([q, i]) => q.label + ": " + sweepCell(q, row[i]))] }));
  /* colour by the first of what varies, dashes by the rest, as in figures */
  const parts = names.map((n) => n.split(", ")), firsts = [...new Set(parts.map((q) => q[0]))], rests = [...new Set(parts.map((q) => q.slice(1).join(", ")))];
  const own = c.series.length && cs[c.series[0]].name === "/cluster/instance" && firsts.every((v) => d.colours[v]);
  const looks = parts.map((q) => own ? [d.colours[q[0]], rests.indexOf(q.slice(1).join(", "))] : firsts.length <= SERIES_HUES.length ? [firsts.indexOf(q[0]), rests.indexOf(q.slice(1).join(", "))] : [names.indexOf(q.join(", ")), 0]);
  const axis = words ? { lo: -.4, hi: values.length - .6, ticks: values.map((_, i) => i), show: (i) => short(values[i] || "", 16) } : quantityAxis(xs, cx.unit, { log: Math.min(...xs) > 0 && Math.max(...xs) >= 8 * Math.min(...xs) });
  if (!words && new Set(xs).size <= 8) axis.ticks = [...new Set(xs)].sort((a, b) => a - b);
  return [pointChart(dots, { label: cy.label + " by " + cx.label, x: axis, y: quantityAxis(rows.map((row) => row[c.y]), cy.unit), xlabel: sweepAxis(cx), ylabel: sweepAxis(cy), series: names, looks, lines: !words && names.length <= 24, height: 360 }), names.length < 2 ? null : names.length <= 24 ? seriesKeys(names, looks) : firsts.length <= SERIES_HUES.length ? seriesKeys(firsts, firsts.map((v, i) => [own ? d.colours[v] : i, 0])) : null];
}
function sweepExplorer(d) {
  const c = sweepChoice(d), cs = d.result.columns, box = el("div");
  if (c.y < 0) return null;
  const options = (keep) => cs.map((q, i) => [String(i), q.label]).filter((o) => keep(+o[0]));
  const again = () => { box.replaceChildren(...[sweepChart(d, c)].flat().filter((x) => x)); redraw(); };
  box.append(...[sweepChart(d, c)].flat().filter((x) => x));
  return card("Any two quantities", "A line for each combination of what else varies.", { id: "explore" }, el("div", { class: "choices" },
    choice("Across", "sweep-x", options((i) => c.varies[i] > 1), String(c.x), (v) => { c.x = +v; c.series = cs.map((q, i) => i).filter((i) => cs[i].axis && c.varies[i] > 1 && i !== c.x); again(); }),
    choice("Up", "sweep-y", options((i) => c.numbers[i]), String(c.y), (v) => { c.y = +v; again(); })), box);
}
function sweepBest(d) {
  const r = d.result, cs = r.columns, out = [], words = (row) => cs.map((c, i) => [c, i]).filter(([c]) => c.axis).map(([c, i]) => (known(row[i]) ? c.label + " " : "") + sweepCell(c, row[i])).join(", ");
  const fits = cs.findIndex((c) => c.name === "/memory/fits"), rows = r.rows.filter((row) => fits < 0 || row[fits] !== false);
  for (const [name, text, mark] of [["samples_per_s", "most", "--accent"], ["step_time_s", "shortest", "--accent"], ["/cost/usd_per_job", "cheapest", "--good"]]) {
    const i = cs.findIndex((c) => c.name === name), have = rows.filter((row) => i >= 0 && known(row[i]));
    if (!have.length || new Set(have.map((row) => row[i])).size < 2) continue;
    const best = have.reduce((a, b) => (cs[i].more_is_better ? b[i] > a[i] : b[i] < a[i]) ? b : a);
    out.push({ text: cs[i].label + ", " + text + ": " + sweepCell(cs[i], best[i]) + (cs[i].unit_text ? " " + cs[i].unit_text : ""), more: words(best), mark });
    if (out.length === 2) break;
  }
  out.unshift({ text: number(r.written, 6) + " points", more: [r.failed && r.failed + " failed", r.unfit && r.unfit + " do not fit", r.excluded && r.excluded + " excluded", r.left_out && r.left_out + " left out"].filter((x) => x).join(", ") || "all fit", mark: r.failed ? "--bad" : "--good" });
  return verdictList(out);
}
function sweepTable(d) {
  const r = d.result, columns = r.columns.map((c, i) => ({ name: r.columns.filter((o) => o.label === c.label).length > 1 ? sweepAxis(c) : c.label, text: r.rows.some((row) => typeof row[i] === "string"), down: c.more_is_better, value: (row) => row[i], show: (row) => sweepCell(c, row[i]) }));
  if (r.failed) columns.push({ name: "error", text: true, wrap: true, value: (row) => row[r.columns.length] || "" });
  return card("Points", [r.not_shown ? number(r.not_shown, 7) + " more are in points.csv. " : "", onScreen("Press a heading to sort.")], { id: "points" }, longTable(columns, r.rows, { label: "points" }));
}
function sweepFigures(d) {
  return d.figures.map((f) => card(f.title || f.file, null, { half: d.figures.length > 1 }, f.svg ? el("figure", null, el("img", { src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(f.svg), alt: f.question || f.title || f.file }))
    : el("p", { class: "soft" }, f.file + " lies with the sweep's tables: figures of other kinds than SVG are not in the page.")));
}
function pageOfSweep(d) {
  const r = d.result;
  const name = d.title.replace(/^.*\//, "").replace(/\.json$/, "");
  return [head(name, "A sweep over " + r.columns.filter((c) => c.axis).map((c) => c.label).join(", ")), sweepBest(d), el("div", { class: "cards" }, sweepExplorer(d), sweepFigures(d), sweepTable(d),
    r.warnings.length > 0 && card("Warnings", null, { id: "warnings" }, findings(r.warnings)), card("All numbers", null, { id: "inputs" }, folded("The points as JSON", () => JSON.stringify(r, null, 1), "result")))];
}
