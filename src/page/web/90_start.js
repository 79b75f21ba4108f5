/* Which page the data are of. */
function pageOf(d) {
  const pages = { simulate: pageOfSimulate, plan: pageOfPlan, compare: pageOfCompare,
    doctor: pageOfDoctor, validate: pageOfValidate, sweep: pageOfSweep };
  return pages[d.kind](d);
}
function showPage(d, into) {
  D = d;
  redraws.length = 0;
  into.replaceChildren(...[pageOf(d)].flat(9).filter((x) => x));
}
function watchPage() {
  let width = innerWidth, due = 0;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; cancelAnimationFrame(due); due = requestAnimationFrame(redraw); } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { document.documentElement.classList.add("paper"); redraw(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("paper"); redraw(); });
  addEventListener("scroll", () => tip(null, null), { passive: true });
}
function start() {
  const d = JSON.parse(document.getElementById("data").textContent), page = document.getElementById("page");
  watchPage();
  if (typeof startLive === "function") startLive(d, page);
  else showPage(d, page);
}
