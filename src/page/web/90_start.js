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
/* The page as it is printed, or as on a screen again: tables shrink to the paper's width. */
function showPaper(on) {
  document.documentElement.classList.toggle("paper", on);
  redraw();
  for (const box of document.querySelectorAll(".scroll")) {
    const wide = box.firstElementChild;
    wide.style.zoom = "";
    if (on && box.scrollWidth > box.clientWidth) wide.style.zoom = box.clientWidth / box.scrollWidth;
  }
}
function watchPage() {
  let width = innerWidth, due = 0;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; cancelAnimationFrame(due); due = requestAnimationFrame(redraw); } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => showPaper(true));
  addEventListener("afterprint", () => showPaper(false));
  addEventListener("scroll", () => tip(null, null), { passive: true });
}
function start() {
  const d = JSON.parse(document.getElementById("data").textContent), page = document.getElementById("page");
  watchPage();
  if (typeof startLive === "function") startLive(d, page);
  else showPage(d, page);
}
