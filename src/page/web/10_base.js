"use strict";
/* Elements, units, colours. Text of the data becomes text nodes only, never markup. */
let D = null; /* the data of the page */

function el(tag, props, ...kids) {
  const e = document.createElement(tag);
  for (const k in props || {}) {
    const v = props[k];
    if (v === null || v === undefined || v === false) continue;
    if (k === "on") for (const name in v) e.addEventListener(name, v[name]);
    else if (k === "style") for (const name in v) e.style.setProperty(name, v[name]);
    else if (k === "class") e.className = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  add(e, kids);
  return e;
}
function add(e, kids) {
  for (const kid of kids.flat(4))
    if (kid !== null && kid !== undefined && kid !== false) e.append(kid);
  return e;
}
function svg(tag, props, ...kids) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in props || {})
    if (props[k] !== null && props[k] !== undefined) e.setAttribute(k, props[k]);
  return add(e, kids);
}

/* Units as the program prints them ------------------------------------------------- */
function digits(v, kept) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= Math.pow(10, kept - 1) && a < 1e7) return v.toFixed(0);
  return String(parseFloat(v.toPrecision(kept)));
}
/* The unit of the largest step that leaves 1 or above; seconds go on up to two minutes. */
function stepOf(v, steps, kept) {
  let best = steps[0];
  for (const s of steps)
    if (parseFloat((Math.abs(v) / s[1]).toPrecision(kept)) >= (s[0] === "min" ? 2 : 1)) best = s;
  return best;
}
function stepped(v, steps, kept) {
  const best = stepOf(v, steps, kept);
  return digits(v / best[1], kept) + " " + best[0];
}
const TIMES = [["ns", 1e-9], ["\u00b5s", 1e-6], ["ms", 1e-3], ["s", 1], ["min", 60], ["h", 3600], ["d", 86400]];
const BYTES = [["B", 1], ["KiB", 1024], ["MiB", 1048576], ["GiB", 1073741824], ["TiB", 1099511627776]];
const FLOPS = [["FLOP/s", 1], ["GFLOP/s", 1e9], ["TFLOP/s", 1e12], ["PFLOP/s", 1e15]];
const COUNTS = [["", 1], ["K", 1e3], ["M", 1e6], ["B", 1e9], ["T", 1e12]];
function known(v) { return typeof v === "number" && isFinite(v); }
function time(v) { return known(v) ? (v === 0 ? "0 s" : stepped(v, TIMES, 3)) : "\u2013"; }
function bytes(v) { return known(v) ? stepped(v, BYTES, 3) : "\u2013"; }
function flops(v) { return known(v) ? stepped(v, FLOPS, 3) : "\u2013"; }
function count(v) { return known(v) ? stepped(v, COUNTS, 3).trim() : "\u2013"; }
function percent(v, places) { return known(v) ? (100 * v).toFixed(places === undefined ? 1 : places) + " %" : "\u2013"; }
function number(v, kept) {
  if (!known(v)) return "\u2013";
  const a = Math.abs(v);
  return a >= 1000 ? v.toLocaleString("en", { maximumFractionDigits: a >= 1e4 ? 0 : 1 }) : digits(v, kept || 3);
}
function usd(v) { return known(v) ? number(v, 3) + " USD" : "\u2013"; }
/* "474-753 ms": both in the unit of the value between them. */
function range(r, v, steps) {
  if (!r || !known(r[0]) || !known(r[1])) return "";
  const best = stepOf(v, steps, 3);
  return digits(r[0] / best[1], 3) + "\u2013" + digits(r[1] / best[1], 3) + " " + best[0];
}

/* Meanings --------------------------------------------------------------------------- */
const PARTS = { /* of a step's time: [name, meaning, in words of a verdict] */
  compute: ["compute", "compute", "computes"],
  recompute: ["recomputation", "recompute", "recomputes activations"],
  reference: ["reference's forward", "reference", "runs the reference"],
  tensor_comm: ["tensor-parallel communication", "tensor-comm", "waits for tensor-parallel communication"],
  pipeline_comm: ["pipeline communication", "pipeline-comm", "waits for pipeline messages"],
  pipeline_bubble: ["pipeline bubble", "pipeline-bubble", "is pipeline bubble"],
  context_comm: ["context-parallel communication", "context-comm", "waits for context-parallel communication"],
  expert_comm: ["expert communication", "expert-comm", "waits for experts' tokens"],
  data_comm_exposed: ["exposed gradient communication", "gradient-comm", "waits for gradients"],
  data_comm_hidden: ["hidden gradient communication", "gradient-comm", "is hidden"],
  optimizer: ["optimizer", "optimizer", "updates parameters"],
  offload_exposed: ["exposed offload", "offload", "waits for offloaded states"],
  input_wait: ["waiting for input", "input-wait", "waits for input"],
  other: ["host and waiting", "other", "waits for the host"]
};
const HELD = { /* memory: [name, meaning] */
  framework: ["CUDA context", "framework"],
  parameters: ["parameters", "parameters"],
  gradients: ["gradients", "gradients"],
  optimizer: ["optimizer states", "optimizer-states"],
  activations: ["activations", "activations"],
  buffers: ["communication buffers", "buffers"],
  workspace: ["workspace", "workspace"]
};
function isPaper() { return document.documentElement.classList.contains("paper"); }
function isDark() {
  return !isPaper() && matchMedia("(prefers-color-scheme: dark)").matches;
}
function channels(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
function mix(hex, towards, share) {
  const a = channels(hex), b = channels(towards);
  return "#" + a.map((v, i) => Math.round(v * (1 - share) + b[i] * share).toString(16).padStart(2, "0")).join("");
}
function luma(hex) { const [r, g, b] = channels(hex); return 0.299 * r + 0.587 * g + 0.114 * b; }
/* On a dark page, dark colours are lightened and the lightest dimmed. */
function colour(meaning) { return onGround(D.palette[meaning] || "#808080"); }
function onGround(hex) {
  if (!isDark()) return hex;
  const l = luma(hex);
  return l < 110 ? mix(hex, "#ffffff", 0.28) : l > 200 ? mix(hex, "#000000", 0.25) : hex;
}
function ink(hex) { return luma(hex) > 140 ? "#111111" : "#ffffff"; }
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

/* Pieces of a page ------------------------------------------------------------------- */
const redraws = []; /* what is drawn again when width, theme or paper change */
function drawn(parent, draw) {
  const again = () => { if (parent.isConnected) draw(); };
  again.parent = parent;
  redraws.push(again);
  requestAnimationFrame(again);
}
function redraw() { for (const f of redraws) f(); }
/* After what was shown is replaced: what is gone is not drawn again. */
function forget() {
  const kept = redraws.filter((f) => f.parent.isConnected);
  redraws.length = 0;
  redraws.push(...kept);
}

function card(title, sub, props, ...kids) {
  const id = "h-" + title.toLowerCase().replace(/[^a-z]+/g, "-");
  return el("section", { class: "card" + (props && props.half ? " half" : ""), "aria-labelledby": id, id: props && props.id },
    el("div", { class: "head" }, el("h2", { id }, title), sub && el("p", { class: "sub" }, sub), props && props.tools), kids);
}
/* How to handle what is shown: of no use on paper. */
function onScreen(text) { return el("span", { class: "noprint" }, text); }
function tile(name, value, unit, more, extra) {
  return el("div", { class: "tile" }, el("div", { class: "name" }, name),
    el("div", { class: "value" }, value, unit ? el("small", null, " " + unit) : null),
    more && el("div", { class: "more" }, more), extra);
}
function swatch(meaning) {
  return el("span", { class: "swatch" + (meaning === "pipeline-bubble" ? " idle" : ""),
    style: meaning === "pipeline-bubble" ? {} : { background: colour(meaning) }, "aria-hidden": "true" });
}
/* A value within its range, both on one scale. */
function rangeBar(r, v, name) {
  if (!r || !known(r[0]) || !known(r[1]) || r[1] <= 0) return null;
  const most = r[1] * 1.08, x = (q) => (100 * q / most).toFixed(2) + "%";
  return svg("svg", { height: 12, role: "img", "aria-label": name },
    svg("rect", { x: 0, y: 4, width: "100%", height: 4, rx: 2, fill: css("--grid") }),
    svg("rect", { x: x(r[0]), y: 3, width: (100 * (r[1] - r[0]) / most).toFixed(2) + "%", height: 6, rx: 3, fill: css("--accent"), opacity: .35 }),
    svg("rect", { x: x(v), y: 0, width: 3, height: 12, rx: 1.5, fill: css("--accent") }));
}

/* One tip for the page, for pointers and for the keyboard. */
let tipBox = null;
function tip(event, kids) {
  if (!tipBox) document.body.append(tipBox = el("div", { class: "tip", role: "status", hidden: true }));
  if (!kids) { tipBox.hidden = true; return; }
  tipBox.replaceChildren(...[kids].flat());
  tipBox.hidden = false;
  const w = tipBox.offsetWidth, h = tipBox.offsetHeight, x = event.clientX, y = event.clientY;
  tipBox.style.left = Math.max(6, Math.min(innerWidth - w - 6, x + 14)) + "px";
  tipBox.style.top = (y + h + 22 > innerHeight ? Math.max(6, y - h - 10) : y + 16) + "px";
}
function lines(...texts) {
  return texts.flat().filter((t) => t).map((t, i) => el("div", null, i === 0 ? el("b", null, t) : t));
}

/* A table whose columns sort: { name, value(row), show(row), text } */
function table(columns, rows, options) {
  const o = options || {};
  let by = -1, down = false, order = rows.slice();
  const body = el("tbody");
  const heads = columns.map((c, i) => el("th", { scope: "col", class: c.text ? "text" : null },
    c.value ? el("button", { type: "button", title: "sort", on: { click: () => sort(i) } }, c.name) : c.name));
  function fill() {
    body.replaceChildren(...order.map((r) => {
      const tr = el("tr", { class: o.chosen && o.chosen(r) ? "chosen" : null },
        columns.map((c) => el("td", { class: (c.text ? "text" : "") + (c.wrap ? " wrap" : "") || null }, c.show ? c.show(r) : c.value(r))));
      if (o.row) o.row(tr, r);
      return tr;
    }));
  }
  function sort(i) {
    down = by === i ? !down : !!columns[i].down;
    by = i;
    const key = columns[i].value, last = down ? -Infinity : Infinity;
    order = rows.slice().sort((a, b) => {
      let x = key(a), y = key(b);
      if (typeof x === "string" || typeof y === "string")
        return (down ? -1 : 1) * String(x).localeCompare(String(y), "en", { numeric: true });
      x = known(x) ? x : last; y = known(y) ? y : last;
      return x === y ? 0 : (down ? y - x : x - y);
    });
    heads.forEach((h, k) => k === i ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
    fill();
  }
  fill();
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": o.label || "table" },
    el("table", null, el("thead", null, el("tr", null, heads)), body));
}

function folded(title, text, name) {
  const pre = el("pre", { tabindex: "0" });
  const d = el("details", { on: { toggle: () => { if (d.open && !pre.firstChild) pre.textContent = typeof text === "function" ? text() : text; } } },
    el("summary", null, title), copyButton(() => typeof text === "function" ? text() : text), pre);
  if (name) d.id = name;
  return d;
}
function copyButton(text) {
  const b = el("button", { type: "button", class: "noprint", on: { click: async () => {
    try { await navigator.clipboard.writeText(text()); b.textContent = "copied"; }
    catch (e) { b.textContent = "select the text and copy it"; }
    setTimeout(() => { b.textContent = "copy"; }, 1500);
  } } }, "copy");
  return b;
}
function findings(list) {
  return el("ul", { class: "plain" }, list.map((d) => el("li", null,
    d.pointer && el("code", null, d.pointer), d.pointer ? ": " : "", d.text || String(d), d.mend ? el("span", { class: "soft" }, " (" + d.mend + ")") : null,
    d.file ? el("span", { class: "soft small" }, " " + d.file + (d.line ? ":" + d.line : "")) : null)));
}
