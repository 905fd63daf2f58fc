// Puts the parts together.
let matches = [], match = -1;
function find(text) {
  const wanted = text.toLowerCase();
  matches = wanted ? nodes.name.map((_, v) => v).filter(v => nodes.name[v].toLowerCase().includes(wanted)) : [];
  match = -1;
  $("found").textContent = wanted ? count(matches.length) + " found" : "";
  nextMatch(1);
}
function nextMatch(step) {
  if (!matches.length) return;
  match = (match + step + matches.length) % matches.length;
  $("found").textContent = count(match + 1) + " of " + count(matches.length);
  select((selected ? placementOf(selected) : winner).sliceOfNode[matches[match]], true);
}
function goTo(id) {
  $(id).scrollIntoView({ block: "nearest" });
  $(id).querySelector("canvas").focus({ preventScroll: true });
}
function startPage() {
  $("find").addEventListener("input", event => find(event.target.value));
  $("find").addEventListener("keydown", event => {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
  });
  $("unselect").addEventListener("click", () => select(null));
  $("to-timeline").addEventListener("click", () => { select(selected, true); goTo("timeline"); });
  $("to-graph").addEventListener("click", () => {
    const s = selected;
    if (s) revealInGraph(s.node >= 0 ? s.node : placementOf(s).transfers.producer[s.transfer]);
    goTo("graph");
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    hideTip();
    if (selected) select(null);
    else if (document.activeElement === graphCanvas) closeGroup();
  });
  window.addEventListener("resize", painter(layoutPage));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.scheme = "light";  // paper is
    recolour(true);
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.scheme;
    recolour();
  });
}
// With many devices the bar takes more than a line, and would hide the heading that a link leads to.
function makeRoomForBar() {
  const sticky = getComputedStyle($("bar")).position === "sticky";
  document.documentElement.style.scrollPaddingTop = (sticky ? $("bar").offsetHeight + 14 : 8) + "px";
}
function layoutPage() {
  makeRoomForBar();
  layoutTimeline();
  layoutMemory();
  layoutGraph();
}
function writeTables() {
  for (const id of ["change-tables", "device-tables", "stage-tables", "candidate-tables", "moved-tables"]) {
    if ($(id)) $(id).replaceChildren();
  }
  writeKey();
  drawLegend();
  if ($("comparison")) writeComparison();
  writeChanges();
  writeDevices();
  if ($("stages")) writeStages();
  if ($("candidates")) writeCandidates();
  if ($("moved")) writeMoved();
}
function recolour(now) {
  readTheme();
  writeTables();
  writeNodes();
  for (const { chart } of charts) chart.redraw(false);
  if (now === true) {
    paintTimeline();
    paintGraph();
  } else {
    drawTimeline();
    drawGraph();
  }
}

readTheme();
writeHeadline();
writeTables();
makeRoomForBar();
startTimeline();
layoutTimeline();
startMemory();
startNodes();
startPage();
// The layout of the graph takes longest: the rest is on the screen before it.
setTimeout(() => {
  startGraph();
  document.documentElement.dataset.ready = "true";
}, 0);
