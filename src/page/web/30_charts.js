/* Charts as SVG: a stacked bar, areas over time, lines, points, a waterfall. */
function niceStep(span, n) {
  const rough = span / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map((k) => k * power).find((v) => v >= rough * .999);
}
function niceBytes(span, n) {
  return Math.pow(2, Math.round(Math.log2(span / n)));
}
/* Idle time is hatched. */
function fill(meaning) {
  return meaning === "pipeline-bubble" ? "repeating-linear-gradient(45deg," + css("--soft") + " 0 1px," + css("--grid") + " 1px 6px)" : colour(meaning);
}
/* One bar of parts [{ name, meaning, value }], and their list with numbers. */
function parts(rows, total, show, options) {
  const o = options || {};
  const bar = el("div", { class: "bar", style: { height: "26px" }, role: "img", "aria-label": rows.map((r) => r.name + " " + show(r.value)).join(", ") });
  drawn(bar, () => {
    bar.replaceChildren(...rows.filter((r) => !r.aside).map((r) => {
      const i = el("i", { style: { width: 100 * r.value / total + "%", background: fill(r.meaning) } });
      hint(i, () => lines(r.name, show(r.value) + ", " + percent(r.value / total)));
      return i;
    }));
  });
  const most = Math.max(...rows.map((r) => r.value), 1e-30);
  const list = el("table", { style: { "margin-top": "8px" } }, el("tbody", null, rows.map((r) => {
    const small = el("div", { class: "bar" });
    drawn(small, () => small.replaceChildren(el("i", { style: { width: 100 * r.value / most + "%", background: fill(r.meaning), opacity: r.aside ? .45 : 1 } })));
    const sw = el("span");
    drawn(sw, () => sw.replaceChildren(swatch(r.meaning)));
    return el("tr", null, el("td", { class: "wrap" }, sw, " ", r.name, r.aside ? el("span", { class: "soft" }, " (overlapped)") : null),
      el("td", null, show(r.value)), el("td", { class: "soft" }, percent(r.value / total)), el("td", { class: "wide", style: { width: "34%" } }, small));
  })));
  return [bar, el("div", { class: "scroll" }, list)];
}
function hint(node, text) {
  node.addEventListener("pointermove", (e) => tip(e, text()));
  node.addEventListener("pointerleave", () => tip(null, null));
}

/* A frame with both axes; gives plot(draw) the scales. */
function chart(options, draw) {
  const o = options, box = el("div", { class: "chart", id: o.id || null });
  drawn(box, () => {
    const w = Math.max(260, box.clientWidth), h = o.height || 240, L = o.left || 62, R = 12, T = o.top || (o.ylabel ? 26 : 12), B = o.xlabel ? 42 : 28;
    const s = svg("svg", { width: w, height: h, viewBox: "0 0 " + w + " " + h, role: "img", "aria-label": o.label, style: "display:block;max-width:100%" });
    const X = scale(o.x, L, w - R), Y = scale(o.y, h - B, T);
    for (const v of ticks(o.x, Math.max(2, (w - L - R) / 90)))
      add(s, [svg("text", X(v) + 3.6 * o.x.show(v).length > w ? { x: w, y: h - B + 17, "text-anchor": "end" } : { x: X(v), y: h - B + 17, "text-anchor": "middle" }, o.x.show(v)), svg("line", { x1: X(v), x2: X(v), y1: T, y2: h - B, stroke: css("--grid") })]);
    for (const v of ticks(o.y, Math.max(2, (h - T - B) / 44)))
      add(s, [svg("text", { x: L - 7, y: Y(v) + 4, "text-anchor": "end" }, o.y.show(v)), svg("line", { x1: L, x2: w - R, y1: Y(v), y2: Y(v), stroke: css("--grid") })]);
    if (o.xlabel) add(s, [svg("text", { x: (L + w - R) / 2, y: h - 6, "text-anchor": "middle" }, o.xlabel)]);
    if (o.ylabel) add(s, [svg("text", { x: 2, y: 10, "text-anchor": "start" }, o.ylabel)]);
    draw(s, X, Y, { L, R: w - R, T, B: h - B });
    box.replaceChildren(s);
  });
  return box;
}
function scale(a, from, to) {
  if (a.log) {
    const lo = Math.log(a.lo), hi = Math.log(a.hi);
    return (v) => from + (Math.log(v) - lo) / (hi - lo || 1) * (to - from);
  }
  return (v) => from + (v - a.lo) / (a.hi - a.lo || 1) * (to - from);
}
function ticks(a, n) {
  if (a.ticks) return a.ticks;
  const out = [];
  if (a.log) {
    for (let p = Math.floor(Math.log10(a.lo)); p <= Math.ceil(Math.log10(a.hi)); p++)
      for (const k of [1, 2, 5]) { const v = k * Math.pow(10, p); if (v >= a.lo * .999 && v <= a.hi * 1.001) out.push(v); }
    const every = Math.ceil(out.length / (n + 1)); /* evenly, from the first on */
    return out.filter((_, i) => i % every === 0);
  }
  const step = a.bytes ? niceBytes(a.hi - a.lo, n) : niceStep((a.hi - a.lo) / (a.unit || 1), n) * (a.unit || 1);
  for (let k = Math.ceil(a.lo / step - 1e-9); k * step <= a.hi * (1 + 1e-9); k++) out.push(k * step);
  return out;
}
/* An axis of time in one unit, of which it has three or more. */
function timeUnit(end) { return TIMES.filter((u) => end / u[1] >= 3).pop() || TIMES[0]; }
function timeAxis(end, from) {
  const unit = timeUnit(end);
  return { lo: from || 0, hi: end, unit: unit[1], show: (v) => digits(+(v / unit[1]).toPrecision(4), 4) + " " + unit[0] };
}
/* Stacked areas: rows [{ name, meaning, values }], equal stretches of [0, end]. */
function areas(rows, end, limit, options) {
  const n = rows[0].values.length, tops = new Array(n).fill(0);
  for (const r of rows) r.values.forEach((v, i) => { tops[i] += v; });
  const peak = Math.max(...tops), at = tops.indexOf(peak), hi = Math.max(peak, limit) * (options.phases ? 1.12 : 1.06);
  return chart({ ...options, x: timeAxis(end), y: { lo: 0, hi, bytes: true, show: bytes } }, (s, X, Y, f) => {
    const low = new Array(n).fill(0), step = end / n;
    for (const r of rows) {
      let d = "", back = "";
      for (let i = 0; i < n; i++) {
        const top = low[i] + r.values[i], x0 = X(i * step).toFixed(1), x1 = X((i + 1) * step).toFixed(1);
        d += (i ? "L" : "M") + x0 + " " + Y(top).toFixed(1) + "L" + x1 + " " + Y(top).toFixed(1);
        back = "L" + x1 + " " + Y(low[i]).toFixed(1) + "L" + x0 + " " + Y(low[i]).toFixed(1) + back;
        low[i] = top;
      }
      add(s, [svg("path", { d: d + back + "Z", fill: colour(r.meaning) })]);
    }
    if (options.phases) phaseStrip(s, options.phases, X, f);
    add(s, [svg("line", { x1: f.L, x2: f.R, y1: Y(limit), y2: Y(limit), stroke: css("--ink"), "stroke-width": 1.5, "stroke-dasharray": "6 4" }),
      svg("text", { x: f.R - 4, y: Y(limit) - 5, "text-anchor": "end", class: "strong" }, "capacity " + bytes(limit)),
      svg("circle", { cx: X((at + .5) * step), cy: Y(peak), r: 4, fill: css("--card"), stroke: css("--ink"), "stroke-width": 2 })]);
    hint(s, () => null);
    s.addEventListener("pointermove", (e) => {
      const i = Math.min(n - 1, Math.max(0, Math.floor((e.clientX - s.getBoundingClientRect().left - f.L) / (f.R - f.L) * n)));
      const at = (options.phases || []).find((p) => p.from_s <= (i + .5) * step && (i + .5) * step < p.to_s);
      tip(e, lines(bytes(tops[i]) + " at " + time(i * step) + (at ? ", " + at.name : ""), rows.slice().reverse().filter((r) => r.values[i] > 0).map((r) => r.name + ": " + bytes(r.values[i]))));
    });
  });
}
/* What is done meanwhile, as a strip above the data; names where they have room. */
function phaseStrip(s, phases, X, f) {
  for (const p of phases) {
    const from = X(p.from_s), wide = X(p.to_s) - from;
    add(s, [svg("rect", { x: from.toFixed(1), y: f.T - 7, width: Math.max(0, wide).toFixed(1), height: 4, fill: colour(p.meaning) }),
      from > f.L + 1 && svg("line", { x1: from, x2: from, y1: f.T - 7, y2: f.B, stroke: css("--soft"), "stroke-width": .8, "stroke-dasharray": "2 3" }),
      6.2 * p.name.length < wide && svg("text", { x: from + wide / 2, y: f.T - 12, "text-anchor": "middle" }, p.name)].filter((x) => x));
  }
}
/* Lines of shares over time. */
function shares(rows, end, options) {
  return chart({ ...options, x: timeAxis(end), y: { lo: 0, hi: 1, show: (v) => percent(v, 0) } }, (s, X, Y, f) => {
    for (const r of rows) {
      const n = r.values.length, step = end / n;
      let d = "";
      r.values.forEach((v, i) => { d += (i ? "L" : "M") + X(i * step).toFixed(1) + " " + Y(v).toFixed(1) + "L" + X((i + 1) * step).toFixed(1) + " " + Y(v).toFixed(1); });
      add(s, [svg("path", { d, fill: "none", stroke: colour(r.meaning), "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": r.dash || null })]);
    }
    s.addEventListener("pointermove", (e) => {
      const n = rows[0].values.length, i = Math.min(n - 1, Math.max(0, Math.floor((e.clientX - s.getBoundingClientRect().left - f.L) / (f.R - f.L) * n)));
      tip(e, lines("at " + time(i * end / n), rows.map((r) => r.name + ": " + percent(r.values[i], 0))));
    });
    s.addEventListener("pointerleave", () => tip(null, null));
  });
}
/* A legend whose colours follow the theme. */
function keys(rows) {
  const ul = el("ul", { class: "legend" });
  drawn(ul, () => ul.replaceChildren(...rows.map((r) => el("li", null, el("span", { class: "key" }, swatch(r.meaning), r.name)))));
  return ul;
}
