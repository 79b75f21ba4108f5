/* What happened when: a canvas with zoom, tips, a legend that switches kinds off. */
function quantities(text) {
  const A = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const of = new Int8Array(128), out = [];
  for (let i = 0; i < 64; i++) of[A.charCodeAt(i)] = i;
  for (let i = 0, v = 0, scale = 1; i < text.length; i++) {
    const d = of[text.charCodeAt(i)];
    v += (d & 31) * scale;
    scale *= 32;
    if (d < 32) { out.push(v); v = 0; scale = 1; }
  }
  return out;
}
const PAPER_DOTS = 3; /* of the canvas, a pixel of the page: about 300 an inch */
/* Intervals of a stream: begins, ends in seconds, kinds, microbatches (-1: none). */
function intervals(stream, unit, kinds) {
  const q = quantities(stream.intervals), n = q.length / 3;
  const s = { name: stream.name, n, a: new Float64Array(n), b: new Float64Array(n), k: new Uint8Array(n), m: new Int32Array(n) };
  for (let i = 0, at = 0; i < n; i++) {
    at += q[3 * i];
    s.a[i] = at * unit;
    s.b[i] = (at + q[3 * i + 1]) * unit;
    s.k[i] = q[3 * i + 2] % kinds;
    s.m[i] = Math.floor(q[3 * i + 2] / kinds) - 1;
  }
  return s;
}

function timeline(t) {
  const rows = []; /* { name, main: [streams], under: [streams] } */
  const piped = t.tracks.length > 1, all = [];
  for (const track of t.tracks) {
    const streams = track.streams.map((s) => intervals(s, t.unit_s, t.kinds.length));
    all.push(...streams);
    if (piped) {
      const main = streams.filter((s) => s.name === "compute");
      rows.push({ name: "stage " + track.stage, main, under: streams.filter((s) => s.name !== "compute") });
    } else {
      for (const s of streams) rows.push({ name: s.name.replace(/_/g, " "), main: [s], under: [] });
    }
  }
  const off = new Set(), total = t.kinds.map(() => 0);
  for (const s of all) for (let i = 0; i < s.n; i++) total[s.k[i]] += s.b[i] - s.a[i];
  const H = !piped ? 34 : rows.length > 24 ? 18 : rows.length > 6 ? 26 : 40, TOP = 24, FOOT = 4;
  const height = TOP + rows.length * H + FOOT;
  const canvas = el("canvas", { tabindex: "0", role: "img", height,
    "aria-label": "Timeline of the step, " + rows.length + (piped ? " stages" : " streams") + ". Arrow keys move, plus and minus zoom, 0 shows all." });
  canvas.style.height = height + "px";
  let from = 0, to = t.end_s, width = 0, left = 70, held = null, hover = null;
  const x = (s) => left + (s - from) / (to - from) * (width - left);
  const at = (px) => from + (px - left) / (width - left) * (to - from);

  function grid(c) {
    const span = to - from, rough = span / Math.max(2, (width - left) / (width < 520 ? 72 : 110));
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map((k) => k * power).find((v) => v >= rough);
    c.fillStyle = css("--soft");
    c.strokeStyle = css("--grid");
    c.textAlign = "center";
    for (let k = Math.ceil(from / step); k * step <= to; k++) {
      const px = Math.round(x(k * step)) + .5;
      c.beginPath(); c.moveTo(px, TOP - 4); c.lineTo(px, height); c.stroke();
      const label = tick(k * step, step);
      if (px > left + 12 && px < width - 24) c.fillText(label, px, 12);
    }
  }
  function tick(v, step) {
    const unit = timeUnit(t.end_s);
    const places = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / unit[1]) + 1e-9)));
    return (v / unit[1]).toFixed(places) + " " + unit[0];
  }
  function first(s, time) { /* the first interval that ends after it: begins rise */
    let lo = 0, hi = s.n;
    while (lo < hi) { const mid = (lo + hi) >> 1; if (s.a[mid] < time) lo = mid + 1; else hi = mid; }
    while (lo > 0 && s.b[lo - 1] > time) lo--;
    return lo;
  }
  /* Narrow intervals share stretches of pixels: one kind alone is paler where the rest is
   * idle; several are stacked by their shares. */
  function stream(c, s, y, h, colours, numbers) {
    const W = 2, n = Math.ceil((width - left) / W), kinds = t.kinds.length, cover = new Float32Array(n * kinds);
    let any = false;
    for (let i = first(s, from); i < s.n && s.a[i] < to; i++) {
      if (off.has(s.k[i])) continue;
      const x0 = Math.max(left, x(s.a[i])), x1 = Math.min(width, x(s.b[i]));
      if (x1 <= left || x1 - x0 >= 3) continue;
      any = true;
      for (let k = Math.floor((x0 - left) / W); k < n && left + k * W < x1; k++)
        cover[k * kinds + s.k[i]] += (Math.min(x1, left + (k + 1) * W) - Math.max(x0, left + k * W)) / W;
    }
    for (let k = 0; any && k < n; k++) {
      let sum = 0, most = 0, best = 0;
      for (let j = 0; j < kinds; j++) { const v = cover[k * kinds + j]; sum += v; if (v > most) { most = v; best = j; } }
      if (sum <= 0) continue;
      if (most > .98 * sum) {
        c.globalAlpha = Math.max(.25, Math.min(1, sum));
        c.fillStyle = colours[best];
        c.fillRect(left + k * W, y, W, h);
        c.globalAlpha = 1;
        continue;
      }
      for (let j = 0, foot = y + h; j < kinds; j++) {
        const part = cover[k * kinds + j] / Math.max(1, sum) * h;
        if (part <= 0) continue;
        c.fillStyle = colours[j];
        c.fillRect(left + k * W, foot - part, W, part);
        foot -= part;
      }
    }
    for (let i = first(s, from); i < s.n && s.a[i] < to; i++) {
      if (off.has(s.k[i])) continue;
      const x0 = Math.max(left, x(s.a[i])), x1 = Math.min(width, x(s.b[i]));
      if (x1 <= left || x1 - x0 < 3) continue;
      c.fillStyle = colours[s.k[i]];
      c.fillRect(x0, y, x1 - x0 - (x1 - x0 > 4 ? 1 : 0), h);
      if (numbers && s.m[i] >= 0 && h >= 13 && x1 - x0 > 18) {
        c.fillStyle = ink(colours[s.k[i]]);
        c.textAlign = "center";
        c.fillText(String(s.m[i]), (x0 + x1) / 2, y + h / 2 + 4);
      }
    }
  }
  function draw() {
    const ratio = isPaper() ? PAPER_DOTS : window.devicePixelRatio || 1, w = canvas.clientWidth;
    if (!w) return;
    width = w;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(height * ratio);
    const c = canvas.getContext("2d"), colours = t.kinds.map((k) => colour(k.meaning));
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, height);
    c.font = "11px system-ui, sans-serif";
    left = Math.min(w / 4, Math.ceil(Math.max(...rows.map((r) => c.measureText(r.name).width))) + 12);
    grid(c);
    rows.forEach((r, i) => {
      const y = TOP + i * H, gap = H > 20 ? 2 : 1;
      c.fillStyle = css("--paper");
      c.fillRect(left, y + gap, width - left, H - 2 * gap);
      c.save();
      c.beginPath(); c.rect(left, y, width - left, H); c.clip();
      const under = r.under.length ? Math.round((H - 2 * gap) * .3) : 0;
      for (const s of r.main) stream(c, s, y + gap, H - 2 * gap - under, colours, piped);
      for (const s of r.under) stream(c, s, y + H - gap - under + 1, under - 1, colours, false);
      c.restore();
      c.fillStyle = css("--ink");
      c.textAlign = "right";
      c.fillText(r.name, left - 8, y + H / 2 + 4, left - 10);
    });
    if (hover) {
      c.strokeStyle = css("--ink");
      c.lineWidth = 1.5;
      c.strokeRect(Math.max(left, x(hover.a)), hover.y, Math.max(2, Math.min(width, x(hover.b)) - Math.max(left, x(hover.a))), hover.h);
    }
  }
  function show(f, l) {
    const least = Math.max(t.unit_s * 40, t.end_s * 1e-6);
    let span = Math.min(t.end_s, Math.max(least, l - f));
    f = Math.max(0, Math.min(t.end_s - span, f));
    from = f; to = f + span;
    reset.disabled = span >= t.end_s * .9999;
    draw();
  }
  function zoom(factor, px) {
    const centre = px === undefined ? (from + to) / 2 : at(px), span = (to - from) * factor;
    show(centre - (centre - from) * factor, centre - (centre - from) * factor + span);
  }
  function find(px, py) {
    const i = Math.floor((py - TOP) / H);
    if (i < 0 || i >= rows.length || px < left) return null;
    const gap = H > 20 ? 2 : 1, r = rows[i], y = TOP + i * H, under = r.under.length ? Math.round((H - 2 * gap) * .3) : 0;
    const below = under && py > y + H - gap - under, time = at(px), slack = (to - from) / (width - left);
    for (const s of below ? r.under : r.main) {
      let best = -1;
      for (let k = first(s, time - slack); k < s.n && s.a[k] <= time + slack; k++)
        if (s.b[k] >= time - slack && !off.has(s.k[k]) && (best < 0 || s.b[k] - s.a[k] > s.b[best] - s.a[best])) best = k;
      if (best >= 0)
        return { row: r, s, i: best, a: s.a[best], b: s.b[best], y: below ? y + H - gap - under + 1 : y + gap, h: below ? under - 1 : H - 2 * gap - under };
    }
    return null;
  }
  function point(e) {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (e) => {
    fingers.set(e.pointerId, point(e));
    canvas.setPointerCapture(e.pointerId);
    held = { px: point(e)[0], from, to, gap: spread() };
  });
  function spread() {
    const p = [...fingers.values()];
    return p.length === 2 ? Math.abs(p[0][0] - p[1][0]) : 0;
  }
  canvas.addEventListener("pointermove", (e) => {
    const p = point(e);
    if (fingers.has(e.pointerId)) fingers.set(e.pointerId, p);
    if (fingers.size === 2 && held && held.gap > 10) { /* pinch */
      const f = held.gap / Math.max(10, spread()), middle = (held.from + held.to) / 2, half = (held.to - held.from) * f / 2;
      show(middle - half, middle + half);
      return;
    }
    if (fingers.size === 1 && held) {
      const moved = (held.px - p[0]) / (width - left) * (held.to - held.from);
      if (to - from < t.end_s) show(held.from + moved, held.to + moved);
    }
    const hit = find(p[0], p[1]);
    if ((hit && hit.a) !== (hover && hover.a) || (hit && hit.y) !== (hover && hover.y)) { hover = hit; draw(); }
    tip(e, hit && describe(hit));
  });
  function describe(h) {
    const kind = t.kinds[h.s.k[h.i]].name, m = h.s.m[h.i];
    return lines(kind + (m >= 0 ? ", microbatch " + m : ""), time(h.b - h.a) + " from " + time(h.a),
      h.row.name + (piped ? ", stream " + h.s.name.replace(/_/g, " ") : ""));
  }
  const lift = (e) => { fingers.delete(e.pointerId); held = null; };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => { hover = null; tip(null, null); draw(); });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey && document.activeElement !== canvas) return; /* the page scrolls */
    e.preventDefault();
    zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), point(e)[0]);
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => zoom(.4, point(e)[0]));
  canvas.addEventListener("keydown", (e) => {
    const span = to - from, keys = {
      ArrowLeft: () => show(from - span / 5, to - span / 5), ArrowRight: () => show(from + span / 5, to + span / 5),
      a: () => show(from - span / 5, to - span / 5), d: () => show(from + span / 5, to + span / 5),
      "+": () => zoom(.6), "=": () => zoom(.6), w: () => zoom(.6), "-": () => zoom(1 / .6), s: () => zoom(1 / .6),
      "0": () => show(0, t.end_s), Home: () => show(0, span), End: () => show(t.end_s - span, t.end_s)
    };
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    keys[e.key]();
    e.preventDefault();
  });
  const reset = el("button", { type: "button", disabled: true, on: { click: () => show(0, t.end_s) } }, "all");
  const tools = el("div", { class: "tools noprint", role: "group", "aria-label": "zoom" },
    el("button", { type: "button", "aria-label": "zoom in", on: { click: () => zoom(.5) } }, "+"),
    el("button", { type: "button", "aria-label": "zoom out", on: { click: () => zoom(2) } }, "\u2212"), reset);
  const legend = el("ul", { class: "legend", "aria-label": "kinds; press to hide" });
  drawn(canvas, () => {
    legend.replaceChildren(...t.kinds.map((k, i) => [k, i]).filter((p) => total[p[1]] > 0).map(([k, i]) => {
      const b = el("button", { type: "button", "aria-pressed": String(!off.has(i)), on: { click: () => {
        if (off.has(i)) off.delete(i); else off.add(i);
        b.setAttribute("aria-pressed", String(!off.has(i)));
        draw();
      } } }, swatch(k.meaning), k.name);
      return el("li", null, b);
    }));
    draw();
  });
  const notes = [];
  if (piped) notes.push("Below each stage's passes: its communication. ");
  notes.push("Blank is idle. ");
  if (t.accumulation_not_shown) notes.push(t.accumulation_not_shown + " more accumulation steps are not shown. ");
  if (t.merged_below_s > 0) notes.push("Intervals below " + time(t.merged_below_s) + " are merged with their neighbours. ");
  notes.push(onScreen("Drag to move; Ctrl and wheel, or pinch, to zoom."));
  return card("What happens when", el("span", null, notes), { id: "timeline", tools }, canvas, legend);
}
