/* Points of a table as a chart: dots, lines of those that belong together, one tip. */
const SERIES_HUES = ["forward", "gradient-comm", "backward", "tensor-comm", "optimizer", "pipeline-comm", "offload", "recompute"];
/* A value in the unit of a quantity: "time", "bytes", "share", "usd", "flops", "number". */
function inUnit(v, unit) {
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (typeof v === "string") return v;
  const show = { time, bytes, share: percent, usd, flops, "bytes/s": (x) => bytes(x) + "/s" };
  return show[unit] ? show[unit](v) : number(v, 4);
}
function unitOf(name) {
  return /_bytes$/.test(name) ? "bytes" : /flops_per/.test(name) ? "flops" : /_per_s$/.test(name) || !/(^|_)s$/.test(name) ? (/^m?fu$|^hfu$|frac/.test(name) ? "share" : "number") : "time";
}
/* An axis of a quantity; log where its positive values span more than a factor of 20. */
function quantityAxis(values, unit, o) {
  const lo = Math.min(...values), hi = Math.max(...values);
  if ((o && o.log) || (lo > 0 && hi / lo > 20)) {
    const a = { log: true, lo: lo / 1.12, hi: hi * 1.12, show: (v) => inUnit(v, unit) };
    if (unit === "time") a.ticks = timeTicks(a.lo, a.hi);
    if (unit === "bytes") a.ticks = Array.from({ length: 60 }, (_, i) => Math.pow(2, i)).filter((v) => v >= a.lo && v <= a.hi).filter((v, i, all) => i % Math.ceil(all.length / 7) === 0);
    return a;
  }
  const from = lo > 0 && lo > .5 * hi ? lo - .1 * (hi - lo || lo) : Math.min(0, lo), to = hi + .06 * (hi - from || 1);
  if (unit === "time") return timeAxis(to, from);
  return { lo: from, hi: to, bytes: unit === "bytes" && to - from > 1024, show: (v) => inUnit(+v.toPrecision(8), unit) };
}
const DASHES = [null, "7 4", "2 3", "9 3 2 3", "4 2", "1 2"];
/* A number, or a colour that what it stands for has everywhere. */
function seriesHue(i) { return typeof i === "string" ? onGround(i) : colour(SERIES_HUES[i % SERIES_HUES.length]); }
/* dots: [{ x, y, series, text: [...] }]; o: axes x and y, names of series, lines, more(s, X, Y, f). */
function pointChart(dots, o) {
  return chart({ label: o.label, height: o.height || 320, left: 82, x: o.x, y: o.y, xlabel: o.xlabel, ylabel: o.ylabel }, (s, X, Y, f) => {
    if (o.more) o.more(s, X, Y, f);
    const look = (i) => o.looks ? o.looks[i] : [i, 0], placed = dots.map((d) => [X(d.x), Y(d.y), d]);
    if (o.lines)
      o.series.forEach((_, i) => {
        const line = placed.filter((p) => p[2].series === i).sort((a, b) => a[0] - b[0]);
        add(s, [svg("path", { d: line.map((p, k) => (k ? "L" : "M") + p[0].toFixed(1) + " " + p[1].toFixed(1)).join(""), fill: "none", stroke: seriesHue(look(i)[0]), "stroke-width": 2, "stroke-dasharray": DASHES[look(i)[1] % DASHES.length] })]);
      });
    for (const [px, py, d] of placed) add(s, [svg("circle", { cx: px.toFixed(1), cy: py.toFixed(1), r: dots.length > 300 ? 2.4 : 3.6, fill: seriesHue(look(d.series)[0]), "fill-opacity": dots.length > 120 && !o.lines ? .6 : 1 })]);
    s.addEventListener("pointermove", (e) => {
      const b = s.getBoundingClientRect(), mx = e.clientX - b.left, my = e.clientY - b.top;
      let best = null, least = 900;
      for (const p of placed) { const q = (p[0] - mx) ** 2 + (p[1] - my) ** 2; if (q < least) { least = q; best = p; } }
      tip(e, best && lines(best[2].text));
    });
    s.addEventListener("pointerleave", () => tip(null, null));
  });
}
function seriesKeys(names, looks) {
  const ul = el("ul", { class: "legend" });
  drawn(ul, () => ul.replaceChildren(...names.map((n, i) => {
    const [hue, dash] = looks ? looks[i] : [i, 0];
    return el("li", null, el("span", { class: "key" }, svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: seriesHue(hue), "stroke-width": 3, "stroke-dasharray": DASHES[dash % DASHES.length] })), n));
  })));
  return ul;
}
function choice(name, id, options, value, set) {
  const select = el("select", { id, on: { change: (e) => set(e.target.value) } }, options.map((o) => el("option", { value: o[0] }, o[1])));
  select.value = value;
  return el("label", null, name, select);
}
/* A long table: the first rows, and a button for all. */
function longTable(columns, rows, o) {
  const few = 24, box = el("div"), draw = (list) => table(columns, list, o);
  if (rows.length <= few) return draw(rows);
  return add(box, [draw(rows.slice(0, few)), el("p", { class: "soft small" }, "The first " + few + " of " + number(rows.length, 6) + ". ",
    el("button", { type: "button", class: "noprint", on: { click: () => box.replaceChildren(draw(rows)) } }, "all of them"))]);
}
