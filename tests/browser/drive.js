// Operates a report page as a reader would, by keys and events alone, and writes what it found into
// <pre id="verdict">: "passed N checks", or the checks that failed. run.sh sets window.expected.
(() => {
const found = { checks: 0, failed: [] };
const byId = id => document.getElementById(id);
function check(what, holds) {
  ++found.checks;
  if (!holds) found.failed.push(what);
}
const text = id => byId(id).textContent;
const frames = async n => {
  for (let i = 0; i < n; ++i) await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
};
async function press(target, key, more = {}) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  await frames(1);
}
// Different colours among a grid of pixels: an empty canvas has one.
function colours(canvas) {
  const { width, height } = canvas, pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += 4 * 7) seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  return seen.size;
}
const hash = canvas => canvas.toDataURL();

function checkDocument(expected) {
  check("no error was reported", !byId("failure"));
  check("nothing was fetched", performance.getEntriesByType("resource").length === 0);
  check("names made no elements", document.querySelectorAll("img, b b, h1 b").length === 0);
  check("the headline states a figure", /\d/.test(document.querySelector("h1 .figure").textContent));
  check("the subject counts the nodes", text("subject").includes(expected.nodes.toLocaleString("en") + " node"));
  check("every section of the menu is there", [...document.querySelectorAll("nav a")]
    .every(a => document.querySelector(a.getAttribute("href"))));
  check("every section is in the menu", [...document.querySelectorAll("main section")]
    .every(s => document.querySelector("nav a[href=\"#" + s.id + "\"]")));
  check("sections have names", [...document.querySelectorAll("main section")]
    .every(s => text(s.getAttribute("aria-labelledby")).length > 3));
  check("tables have captions and headers", [...document.querySelectorAll("main table:not(.u-legend)")].every(t =>
    t.caption && t.tHead.querySelector("th[scope=col]") && t.tBodies[0].querySelector("th[scope=row]")));
  check("buttons have names", [...document.querySelectorAll("button")]
    .every(b => b.hidden || b.textContent.trim() || b.getAttribute("aria-label")));
  check("fields have labels", [...document.querySelectorAll("input, select")].every(e => e.labels.length));
  for (const id of ["canvas", "graph-canvas"]) {
    check(id + " can be focused", byId(id).tabIndex === 0);
    check(id + " has a name and a text", byId(id).getAttribute("aria-label") &&
      byId(id).getAttribute("aria-describedby").split(" ").every(d => text(d).trim().length > 20));
  }
  const comparing = expected.placements > 1;
  check("a comparison is there if there is one to make", !!byId("comparison") === comparing);
  check("moved nodes are there if there are placements to compare", !!byId("moved") === comparing);
  if (comparing) check("a row per placement", byId("comparison-table").tBodies[0].rows.length === expected.placements);
  check("candidates as expected", !!byId("candidates") || !expected.candidates);
  check("stages are there if runs have them", !!byId("stages") === !!expected.stages);
  if (expected.throughput) {
    check("a stream is led by its interval", /runs per second/.test(text("headline")));
    check("the bound is left out of a stream", !/bound/.test(text("facts")));
    check("a copy on every device is not hidden", !/a copy on every device/.test(text("candidates")) ||
      /(more|fewer) runs per second/.test(text("subtitle")));
  }
  check("the licences are there", /Leon Sorokin/.test(document.body.textContent) && /Chris Pettitt/.test(document.body.textContent));
}
function checkDrawings(expected) {
  check("the timeline is drawn", colours(byId("canvas")) > 4);
  check("the graph is drawn", colours(byId("graph-canvas")) > 4);
  const charts = document.querySelectorAll("#memory-charts canvas");
  check("a memory chart per placement", charts.length === expected.placements);
  check("the memory charts are drawn", [...charts].every(c => colours(c) > 3));
}
async function checkTimeline(expected) {
  const canvas = byId("canvas"), whole = hash(canvas);
  canvas.focus();
  check("the timeline takes the focus", document.activeElement === canvas);
  await press(canvas, "ArrowUp");
  const zoomed = text("range");
  check("arrow up zooms", /to/.test(zoomed) && hash(canvas) !== whole);
  await press(canvas, "ArrowRight");
  check("arrow right moves", text("range") !== zoomed && text("range") !== "");
  await press(canvas, "ArrowLeft");
  check("arrow left moves back", text("range") === zoomed);
  await press(canvas, "Home");
  check("home fits", text("range") === "" && hash(canvas) === whole);
  await press(canvas, "c");
  check("c selects a node of the critical path", !byId("selection").hidden && /critical path/.test(text("selected")));
  check("the selection says what another device would cost",
    /Best other device|No other device/.test(text("selected")));
  const first = text("selected");
  await press(canvas, "c");
  check("c goes on along the path", text("selected") !== first);
  await press(canvas, "Enter");
  if (expected.nodes > 10) check("enter zooms to the selection", text("range") !== "");
  await press(canvas, "ArrowDown", { shiftKey: true });
  check("shift and arrows step", !byId("selection").hidden);
  await press(canvas, "Escape");
  check("escape clears the selection", byId("selection").hidden);
  byId("fit").click();
  await frames(2);
  check("the page is as it was", hash(canvas) === whole);
  byId("colour").value = "op";
  byId("colour").dispatchEvent(new Event("change"));
  await frames(2);
  check("colours by operator have a legend", byId("legend").children.length > 0);
}
async function checkGraph(expected) {
  const canvas = byId("graph-canvas"), whole = hash(canvas), state = text("graph-state");
  check("the graph counts its nodes", state.includes(expected.nodes.toLocaleString("en") + " node"));
  canvas.focus();
  await press(canvas, "ArrowRight");
  check("arrows move the graph", hash(canvas) !== whole);
  await press(canvas, "Home");
  check("home fits the graph", hash(canvas) === whole);
  await press(canvas, "n");
  if (!expected.groups) {
    check("n selects a node", !byId("selection").hidden);
    await press(canvas, "Escape");
    return;
  }
  check("groups are boxes", /boxes/.test(state));
  await press(canvas, "n");
  await press(canvas, "Enter");
  check("enter opens a group", /edges? in/.test(text("graph-state")) && !byId("graph-up").hidden);
  await press(canvas, "Backspace");
  check("backspace closes it", text("graph-state") === state);
}
async function checkNodes(expected) {
  const body = () => byId("nodes-table").tBodies[0].rows;
  const shown = Math.min(20, expected.nodes);
  check("a page of nodes", body().length === shown);
  check("the pages count the nodes", text("nodes-state").endsWith("of " + expected.nodes.toLocaleString("en")));
  const name = body()[0].cells[0].textContent;
  byId("find").value = name;
  byId("find").dispatchEvent(new Event("input"));
  await frames(1);
  check("find selects the node", /of|found/.test(text("found")) && text("selected").includes(name));
  body()[Math.min(2, body().length - 1)].click();
  await frames(1);
  check("a row selects its node", text("selected").includes(body()[Math.min(2, body().length - 1)].cells[0].textContent));
  byId("to-graph").click();
  check("the selection leads to the graph", document.activeElement === byId("graph-canvas"));
  const button = () => [...byId("nodes-table").querySelectorAll("th button")].find(b => b.textContent === "takes");
  button().click();
  check("a heading sorts", button().parentElement.getAttribute("aria-sort") === "descending");
  byId("unselect").click();
  check("the selection can be closed", byId("selection").hidden);
}
async function run() {
  const expected = window.expected;
  for (let i = 0; i < 400 && document.documentElement.dataset.ready !== "true"; ++i) await frames(1);
  check("the page got ready", document.documentElement.dataset.ready === "true");
  await frames(3);
  checkDocument(expected);
  checkDrawings(expected);
  await checkTimeline(expected);
  await checkGraph(expected);
  await checkNodes(expected);
  check("no error was reported at the end", !byId("failure"));
}
function conclude() {
  const verdict = document.createElement("pre");
  verdict.id = "verdict";
  verdict.textContent = found.failed.length ? "failed: " + found.failed.join("; ") : "passed " + found.checks + " checks";
  document.body.append(verdict);
}
run().catch(error => found.failed.push("the test stopped: " + error.message)).then(conclude);
})();
