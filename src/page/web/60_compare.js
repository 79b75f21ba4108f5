/* Two jobs: what makes them differ, cause by cause. */
/* Of the first job's time: what is less is named below the bars. */
const LEAST_CAUSE = 5e-4;
const CAUSE_HUES = ["gradient-comm", "forward"];
function waterfall(c) {
  const by = c.by === "sample" ? "samples_per_s" : c.by === "token" ? "tokens_per_s" : null;
  const of = (n) => by ? 1 / n[by] : n.step_time_s, show = time;
  const rows = [{ name: c.a, from: 0, to: of(c.from), end: true }];
  let at = of(c.from);
  const none = [];
  for (const x of c.causes) {
    const after = x.after ? of(x.after) : at + x.step_time_s;
    if (Math.abs(after - at) < LEAST_CAUSE * of(c.from)) { none.push(x.cause); at = after; continue; }
    rows.push({ name: x.cause, from: at, to: after, cause: x });
    at = after;
  }
  rows.push({ name: c.b, from: 0, to: of(c.to), end: true });
  const hi = Math.max(...rows.map((r) => Math.max(r.from, r.to))), H = 34, box = el("div", { id: "waterfall" });
  drawn(box, () => {
    const w = Math.max(260, box.clientWidth), LABEL = 70, L = Math.min(w * .42, 20 + 8 * Math.max(...rows.map((r) => r.name.length))), h = rows.length * H + 8, X = (v) => L + v / hi * (w - L - LABEL);
    const s = svg("svg", { width: w, height: h, viewBox: "0 0 " + w + " " + h, role: "img", "aria-label": rows.map((r) => r.name + ": " + show(r.end ? r.to : r.to - r.from)).join("; "), style: "display:block;max-width:100%" });
    rows.forEach((r, i) => {
      const y = i * H + 4, a = Math.min(r.from, r.to), b = Math.max(r.from, r.to), d = r.to - r.from;
      const fill = r.end ? css("--soft") : colour(CAUSE_HUES[d > 0 ? 0 : 1]);
      const g = svg("g", null, svg("rect", { x: X(a), y: y + 4, width: Math.max(1.5, X(b) - X(a)), height: H - 12, rx: 3, fill }),
        svg("text", { "text-anchor": "end", class: r.end ? "strong" : null }, labelLines(r, (L - 10) / 8).map((t, k, all) => svg("tspan", { x: L - 8, y: y + H / 2 + 2 + (k - (all.length - 1) / 2) * 13 }, t))),
        svg("text", { x: X(b) + 6, y: y + H / 2 + 2, class: "strong" }, r.end ? show(r.to) : signed(d)));
      if (i + 1 < rows.length) add(g, [svg("line", { x1: X(r.to), x2: X(r.to), y1: y + H - 8, y2: y + H + 8, stroke: css("--soft"), "stroke-dasharray": "2 3" })]);
      hint(g, () => r.cause ? lines(r.cause.cause, changesOf(r.cause, 8).map((k) => k.pointer + ": " + word(k.from) + " \u2192 " + word(k.to))) : lines(r.name, show(r.to)));
      add(s, [g]);
    });
    box.replaceChildren(...[s, none.length && el("p", { class: "soft small", id: "no-cause" }, "Without effect on the time: " + none.join(", ") + ".")].filter((x) => x));
  });
  return box;
}
/* The keys of a change: a section as its leaves, which are what somebody would write. */
function leaves(pointer, from, to) {
  const inner = (v) => v && typeof v === "object" && !Array.isArray(v), names = [...new Set([...(inner(from) ? Object.keys(from) : []), ...(inner(to) ? Object.keys(to) : [])])];
  if (!names.length) return [{ pointer, from, to }];
  return names.flatMap((n) => leaves(pointer + "/" + n, inner(from) ? from[n] : undefined, inner(to) ? to[n] : undefined)).filter((k) => word(k.from) !== word(k.to));
}
/* A bar's name within n letters a line: a cause that is longer takes two lines. */
function labelLines(bar, n) {
  const end = bar.name.lastIndexOf(" ", n);
  return bar.end || bar.name.length <= n || end < 1 ? [shortName(bar.name, n)] : [bar.name.slice(0, end), short(bar.name.slice(end + 1), n)];
}
/* Names of jobs differ at their ends: the middle is left out. */
function shortName(text, n) { const k = Math.max(2, Math.floor((n - 1) / 2)); return text.length > n ? text.slice(0, k) + "\u2026" + text.slice(-k) : text; }
function changesOf(cause, most) { return (cause.changes || []).flatMap((k) => leaves(k.pointer, k.from, k.to)).slice(0, most); }
function short(text, n) { return text.length > n ? text.slice(0, Math.max(3, n - 1)) + "\u2026" : text; }
function word(v) { return v === null || v === undefined ? "\u2013" : typeof v === "object" ? JSON.stringify(v) : String(v); }
function bothTable(c) {
  const rows = [["step time", (n) => n.step_time_s, time], ["samples/s", (n) => n.samples_per_s, (v) => number(v, 4)], ["tokens/s", (n) => n.tokens_per_s, (v) => number(v, 5)],
    ["memory", (n) => n.peak_bytes, bytes], ["USD/h", (n) => n.usd_per_hour, (v) => number(v, 5)], ["USD a step", (n) => n.usd_per_step, (v) => number(v, 3)],
    ...Object.keys(PARTS).filter((k) => (c.from.breakdown_s[k] || 0) > 0 || (c.to.breakdown_s[k] || 0) > 0).map((k) => [PARTS[k][0], (n) => n.breakdown_s[k], time])];
  return table([{ name: "", text: true, wrap: true, show: (r) => r[0] }, { name: shortName(c.a, 30), show: (r) => r[2](r[1](c.from)) }, { name: shortName(c.b, 30), show: (r) => r[2](r[1](c.to)) },
    { name: "ratio", show: (r) => { const a = r[1](c.from), b = r[1](c.to); return known(a) && known(b) && a > 0 ? digits(b / a, 3) + " x" : "\u2013"; } }], rows, { label: "both" });
}
function compareVerdict(c) {
  const ratio = c.to.step_time_s / c.from.step_time_s, faster = ratio < 1, top = c.causes.slice().sort((a, b) => Math.abs(b.step_time_s) - Math.abs(a.step_time_s))[0];
  const speed = c.to.samples_per_s / c.from.samples_per_s, cost = c.to.usd_per_step / c.to.samples_per_s / c.to.step_time_s / (c.from.usd_per_step / c.from.samples_per_s / c.from.step_time_s);
  return verdictList([{ text: c.b + (speed >= 1 ? " does " : " does only ") + digits(speed, 3) + " x the samples", more: time(c.from.step_time_s) + " \u2192 " + time(c.to.step_time_s) + " a step, " + (faster ? "shorter" : "longer"), mark: speed >= 1 ? "--good" : "--bad" },
    ...(top ? [{ text: "Most by: " + top.cause, more: (top.step_time_s > 0 ? "+" : "\u2212") + time(Math.abs(top.step_time_s)) + " a step", mark: "--accent" }] : []),
    ...(known(cost) ? [{ text: digits(cost, 3) + " x the price of a sample", more: number(c.from.usd_per_hour, 4) + " \u2192 " + number(c.to.usd_per_hour, 4) + " USD/h", mark: cost <= 1 ? "--good" : "--warn" }] : [])]);
}
function compareCards(c) {
  return [compareVerdict(c), el("div", { class: "cards" },
    c.causes.length ? card("From one to the other", "Time of a " + (c.by || "step") + ": one cause after the other is changed; the causes sum to the difference.", { id: "causes" }, waterfall(c)) : null,
    card("Both", null, { half: true, id: "both" }, bothTable(c)),
    c.causes.length ? card("Causes", "\u201cAlone\u201d: changed in the first job by itself.", { half: true, id: "cause-table" }, table([
      { name: "cause", text: true, wrap: true, value: (x) => x.cause }, { name: "adds", value: (x) => x.step_time_s, show: (x) => signed(x.step_time_s) },
      { name: "alone", value: (x) => x.alone_s, show: (x) => signed(x.alone_s) },
      { name: "keys", text: true, wrap: true, show: (x) => changesOf(x, 6).map((k) => el("div", { class: "small" }, el("code", null, k.pointer), " " + short(word(k.from), 24) + " \u2192 " + short(word(k.to), 24))) }],
      c.causes, { label: "causes" })) : null)];
}
function signed(v) { return known(v) ? Math.abs(v) < 1e-9 ? "0 s" : (v < 0 ? "\u2212" : "+") + time(Math.abs(v)) : "\u2013"; }
function pageOfCompare(d) {
  return [head(d.title || "What makes them differ", null), d.result.comparisons.map((c) => ({ ...c, by: d.by })).map((c) => [d.result.comparisons.length > 1 ? el("h2", null, c.a + " and " + c.b) : null, compareCards(c)]),
    el("div", { class: "cards", style: { "margin-top": "16px" } }, card("All numbers", null, { id: "inputs" }, folded("The result as JSON", () => JSON.stringify(d.result, null, 2), "result")))];
}
