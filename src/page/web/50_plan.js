/* Plans: the best, the table, the front of time against cost or memory. */
function planWords(p) {
  const x = p.parallelism, out = [x.library];
  for (const [k, n] of [["tensor", "tp"], ["pipeline", "pp"], ["context", "cp"], ["expert", "ep"]]) if (x[k] > 1) out.push(n + x[k]);
  if (p.data > 1) out.push("dp" + p.data);
  if (x.virtual_stages > 1) out.push("v" + x.virtual_stages);
  if (x.sharding && x.sharding.strategy && x.sharding.strategy !== "none") out.push(x.sharding.strategy);
  return out.join(" ");
}
function planBatch(p) {
  return p.micro_batch_size + (p.microbatches > 1 ? " x " + p.microbatches : "") + (p.gradient_accumulation_steps > 1 ? " x " + p.gradient_accumulation_steps : "");
}
const LETTER = 6.6; /* of a name in a chart: its width in pixels, about */
/* Time of a step against money, or memory where all cost the same: what others beat is pale. */
function planFront(d, choose) {
  const plans = d.plans.filter((p) => p.fits && known(p.step_time_s)), prices = new Set(plans.map((p) => p.usd_per_hour));
  const byCost = prices.size > 1 && plans.every((p) => known(p.usd_per_million_samples));
  const front = new Set(byCost ? d.front_time_cost : d.front_time_memory), y = (p) => byCost ? p.usd_per_million_samples : p.peak_bytes;
  if (plans.length < 2) return null;
  const xs = plans.map((p) => p.step_time_s), ys = plans.map(y), best = Math.min(...xs), low = Math.min(...ys);
  const onFront = plans.filter((p) => front.has(p.rank) && p.step_time_s <= best * 2);
  const x1 = Math.max(best * 1.25, ...onFront.map((p) => p.step_time_s)), y1 = Math.max(low * 1.25, ...onFront.map(y));
  const shown = plans.filter((p) => p.step_time_s <= x1 && y(p) <= y1), sizes = [...new Set(plans.map((p) => p.count))].sort((a, b) => a - b);
  const hues = ["forward", "gradient-comm", "optimizer", "backward", "tensor-comm", "pipeline-comm", "offload"];
  const hue = (p) => colour(hues[sizes.indexOf(p.count) % hues.length]);
  const ax = timeAxis(Math.max(...shown.map((p) => p.step_time_s)) * 1.05, best * .95), ly = Math.min(...shown.map(y)) * .95, hy = Math.max(...shown.map(y)) * 1.05;
  const box = chart({ label: "plans: time of a step against " + (byCost ? "cost" : "memory"), x: ax, y: { lo: ly, hi: hy, bytes: !byCost, show: byCost ? (v) => number(v, 3) : bytes },
    left: 78, height: 320, xlabel: "time of a step", ylabel: byCost ? "USD a million samples" : "peak memory" }, (s, X, Y, f) => {
    const steps = shown.filter((p) => front.has(p.rank)).sort((a, b) => a.step_time_s - b.step_time_s);
    let path = "";
    steps.forEach((p, i) => { path += i ? "H" + X(p.step_time_s).toFixed(1) + "V" + Y(y(p)).toFixed(1) : "M" + X(p.step_time_s).toFixed(1) + " " + Y(y(p)).toFixed(1); });
    add(s, [svg("path", { d: path, fill: "none", stroke: css("--ink"), "stroke-width": 1.3, "stroke-dasharray": "5 4" })]);
    for (const p of shown.slice().reverse()) {
      const on = front.has(p.rank), node = svg("circle", { cx: X(p.step_time_s), cy: Y(y(p)), r: on ? 6.5 : 4.5, fill: p.near_limit ? css("--card") : hue(p), stroke: hue(p), "stroke-width": 2, opacity: on ? 1 : .45, style: "cursor:pointer" });
      hint(node, () => lines("#" + p.rank + " " + p.count + " x " + p.instance + ", " + planWords(p), time(p.step_time_s) + " (" + range(p.range_s, p.step_time_s, TIMES) + ")", bytes(p.peak_bytes) + (p.near_limit ? ", may not fit" : ""), known(p.usd_per_million_samples) && number(p.usd_per_million_samples, 4) + " USD a million samples"));
      if (choose) node.addEventListener("click", () => choose(p));
      add(s, [node]);
    }
    const marks = shown.map((p) => ({ x: X(p.step_time_s), y: Y(y(p)) })), named = new Set();
    for (const p of steps) { /* names, each once, where they cover no plan and no name */
      const name = p.count + " x " + planWords(p), wide = LETTER * name.length, px = X(p.step_time_s), py = Y(y(p));
      const free = (left, top) => left > f.L && left + wide < f.R && !marks.some((m) => m.x > left - 4 - (m.wide || 0) && m.x < left + wide + 4 && m.y > top - 8 && m.y < top + 16);
      const at = [[px + 10, py - 17], [px - 10 - wide, py + 6], [px + 10, py + 6], [px - 10 - wide, py - 17]].find((a) => free(a[0], a[1]));
      if (!at || named.has(name)) continue;
      named.add(name);
      marks.push({ x: at[0], y: at[1] + 4, wide });
      add(s, [svg("text", { x: at[0], y: at[1] + 11, class: "strong" }, name)]);
    }
  });
  const legend = keys(sizes.map((n, i) => ({ name: n + (n > 1 ? " instances" : " instance"), meaning: hues[i % hues.length] })));
  return card("Time against " + (byCost ? "cost" : "memory"), ["The dashed line joins plans that none beats in both. Hollow: may not fit.", choose && onScreen(" Press one to open it.")], { id: "front" }, box, legend);
}
function planTable(d, choose) {
  const has = (f) => d.plans.some(f), one = d.plans.every((p) => p.instance === d.plans[0].instance) ? d.plans[0].instance : null;
  const columns = [{ name: "#", value: (p) => p.rank, text: true },
    one ? { name: one, text: true, value: (p) => p.count, show: (p) => p.count + " x" } : { name: "cluster", text: true, value: (p) => p.count + " x " + p.instance },
    { name: "plan", text: true, value: planWords, show: (p) => choose ? el("button", { type: "button", class: "link", title: "open it as a design", "aria-label": "open plan " + p.rank + ": " + planWords(p), on: { click: () => choose(p) } }, planWords(p)) : planWords(p) },
    { name: "micro-batch", value: (p) => p.micro_batch_size * 1e6 + p.microbatches, show: planBatch },
    { name: "step", value: (p) => p.step_time_s, show: (p) => time(p.step_time_s) },
    { name: "memory", value: (p) => p.peak_bytes, show: (p) => p.near_limit ? el("span", { class: "warn", title: "near the limit" }, bytes(p.peak_bytes) + " ?") : bytes(p.peak_bytes) }];
  if (has((p) => known(p.usd_per_million_samples))) columns.push({ name: "USD/M samples", value: (p) => p.usd_per_million_samples, show: (p) => number(p.usd_per_million_samples, 4) });
  if (has((p) => known(p.usd_per_job))) columns.push({ name: "USD the job", value: (p) => p.usd_per_job, show: (p) => number(p.usd_per_job, 4) }, { name: "hours", value: (p) => p.hours_per_job, show: (p) => number(p.hours_per_job, 3) });
  if (has((p) => p.risk && known(p.risk.best))) columns.push({ name: "best in", down: true, value: (p) => p.risk.best, show: (p) => percent(p.risk.best, 0) }, { name: "regret", value: (p) => p.risk.regret, show: (p) => percent(p.risk.regret) });
  columns.push({ name: "range", value: (p) => p.range_s && p.range_s[1], show: (p) => range(p.range_s, p.step_time_s, TIMES) },
    { name: "samples/s", down: true, value: (p) => p.samples_per_s, show: (p) => number(p.samples_per_s, 3) },
    { name: "MFU", down: true, value: (p) => p.mfu, show: (p) => percent(p.mfu) },
    { name: "checkpointing", text: true, value: (p) => p.activation_checkpointing });
  const front = new Set((d.front_time_cost || []).concat(d.front_time_memory || [])), box = el("div");
  const few = d.plans.filter((p) => p.rank <= 12 || front.has(p.rank)), draw = (rows) => table(columns, rows, { label: "plans", chosen: (p) => p.rank === 1 });
  if (few.length === d.plans.length) return draw(few);
  const more = el("button", { type: "button", class: "noprint", on: { click: () => box.replaceChildren(draw(d.plans)) } }, "all " + d.plans.length);
  return add(box, [draw(few), el("p", { class: "soft small" }, "The best, and those of the fronts. ", more)]);
}
function planCards(r, choose) {
  const best = r.plans[0], out = [];
  if (!best) {
    out.push(el("ul", { class: "verdict" }, el("li", { style: { "--mark": css("--bad") } }, "Nothing fits", el("small", null, number(r.evaluated) + " plans were looked at"))));
    if (r.remedies && r.remedies.length) out.push(card("What would help", null, {}, el("ul", { class: "plain" }, r.remedies.map((x) => el("li", null, el("code", null, x.set || x.text || JSON.stringify(x)))))));
    return out;
  }
  const cards = el("div", { class: "cards" });
  out.push(verdictList([{ text: best.count + " x " + best.instance + ": " + planWords(best), more: "micro-batch " + planBatch(best) + ", checkpointing " + best.activation_checkpointing, mark: "--good" },
    { text: time(best.step_time_s) + " a step", more: range(best.range_s, best.step_time_s, TIMES) + ", " + number(best.samples_per_s, 3) + " samples/s, MFU " + percent(best.mfu), mark: "--accent" },
    ...(best.risk && known(best.risk.best) ? [{ text: "Best in " + percent(best.risk.best, 0) + " of draws", more: "expected regret " + percent(best.risk.regret) + ", at worst " + percent(best.risk.regret_worst, 0), mark: "--warn" }] : []),
    { ...binds({ breakdown_s: best.breakdown_s, step_time_s: best.step_time_s }) }]), cards);
  add(cards, [planFront(r, choose),
    card("Plans", [number(r.feasible) + " of " + number(r.evaluated) + " fit, " + number(r.simulated) + " were simulated. Ordered by " + (r.risk && r.risk.rule !== "none" ? "regret under uncertainty" : r.objective) + ".", onScreen(" Press a heading to sort.")], { id: "plans" }, planTable(r, choose)),
    card("Where the best plan's time goes", time(best.step_time_s) + " a step.", { half: true, id: "breakdown" }, parts(timeRows(best), best.step_time_s, time)),
    r.why && r.why.sensitivities && card("What would speed it up", "Its time with each; below 100 % is faster.", { half: true, id: "why" }, table([
      { name: "change", text: true, value: (x) => x.what }, { name: "time", value: (x) => x.time_per_sample, show: (x) => percent(x.time_per_sample) }], r.why.sensitivities, { label: "sensitivities" })),
    card("Warnings and assumptions", null, { id: "warnings" }, r.warnings.length ? findings(r.warnings) : el("p", { class: "soft" }, "No warnings."),
      el("ul", { class: "plain" }, r.assumed.map((a) => el("li", null, el("code", null, a.pointer + "=" + a.value), a.why ? el("span", { class: "soft" }, " (" + a.why + ")") : null)))),
    card("All numbers", null, { id: "inputs" }, folded("The result as JSON", () => JSON.stringify(r, null, 2), "result"))]);
  return out;
}
function pageOfPlan(d) {
  return [head(d.title || "Plans", null), planCards(d.result, null)];
}
