// The graph, coloured by device: boxes laid out in layers from left to right by dagre. Networks are
// long and thin, so the layers are broken into lines that read like text.
const graphCanvas = $("graph-canvas"), graphContext = graphCanvas.getContext("2d");
const BOX_W = 136, BOX_H = 50, LINE_SPACE = 44, STRIPE = 9;
// The canvas is as tall as the boxes need at full width, within limits.
const LOWEST = 220, TALL = 620, MARGIN = 34, LARGEST = 1.25;
const graph = { trail: [], boxes: [], edges: [], lines: [], boxOfNode: new Map(), placement: placements[0],
                width: 0, height: TALL, w: 1, h: 1, x: 0, y: 0, k: 1, current: null };

// ---- layout -------------------------------------------------------------------------------------
function boxEdges() {
  const found = new Map();
  graph.boxes.forEach((box, i) => {
    for (const v of box.members) {
      for (const w of consumers[v]) {
        const j = graph.boxOfNode.get(w);
        if (j === undefined || j === i) continue;
        const key = i * graph.boxes.length + j;
        if (!found.has(key)) found.set(key, { from: i, to: j, pairs: [] });
        found.get(key).pairs.push([v, w]);
      }
    }
  });
  return [...found.values()];
}
// dagre's time grows with the layers that edges cross. Beyond some edges per box the strongest ones
// shape the layout, and the others are drawn over it.
function shapingEdges() {
  const most = 3 * graph.boxes.length;
  if (graph.edges.length <= most) return graph.edges;
  const sorted = [...graph.edges].sort((a, b) => b.pairs.length - a.pairs.length);
  return sorted.slice(0, most);
}
function layoutBoxes() {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ rankdir: "LR", nodesep: 12, edgesep: 6, ranksep: 40, ranker: "tight-tree" });
  g.setDefaultEdgeLabel(() => ({}));
  graph.boxes.forEach((_, i) => g.setNode(String(i), { width: BOX_W, height: BOX_H }));
  for (const e of shapingEdges()) g.setEdge(String(e.from), String(e.to));
  dagre.layout(g);
  graph.boxes.forEach((box, i) => { ({ x: box.x, y: box.y } = g.node(String(i))); });
  for (const e of graph.edges) {
    const laid = g.edge(String(e.from), String(e.to));
    e.points = laid ? laid.points : null;
  }
}
// How many lines make the boxes largest on the canvas; the fewest of those.
function bestLines(long, tall) {
  const size = lines => Math.min((graph.width - 2 * MARGIN) / (long / lines),
                                 (TALL - 2 * MARGIN) / (lines * tall), LARGEST);
  const choices = [...Array(24).keys()].map(i => i + 1);
  const largest = Math.max(...choices.map(size));
  return choices.find(lines => size(lines) >= 0.97 * largest);
}
// A few layers of many boxes would be a tower: tall layers become several columns, boxes taking
// turns, if that makes the boxes clearly larger.
function spreadLayers() {
  const layers = new Map();
  for (const box of graph.boxes) {
    const x = Math.round(box.x);
    if (!layers.has(x)) layers.set(x, []);
    layers.get(x).push(box);
  }
  const sorted = [...layers].sort((a, b) => a[0] - b[0]).map(([, boxes]) => boxes.sort((a, b) => a.y - b.y));
  const tallest = Math.max(...sorted.map(boxes => boxes.length));
  const across = BOX_W + 40, down = BOX_H + 12;
  const columns = rows => sorted.reduce((n, boxes) => n + Math.ceil(boxes.length / rows), 0);
  const size = rows => Math.min((graph.width - 2 * MARGIN) / (columns(rows) * across),
                                (TALL - 2 * MARGIN) / (rows * down), LARGEST);
  const rows = [...Array(tallest).keys()].map(i => i + 1).reduce((a, b) => size(b) > size(a) ? b : a);
  const ys = graph.boxes.map(b => b.y), tall = Math.max(...ys) - Math.min(...ys) + BOX_H;
  if (size(rows) < 1.25 * (TALL - 2 * MARGIN) / tall) return;
  let x = 0;
  for (const boxes of sorted) {
    const parts = Math.ceil(boxes.length / rows);
    boxes.forEach((box, i) => {
      const inPart = Math.ceil((boxes.length - i % parts) / parts);
      box.x = x + i % parts * across;
      box.y = (Math.floor(i / parts) - (inPart - 1) / 2 + i % parts * 0.5) * down;
    });
    x += parts * across;
  }
  for (const e of graph.edges) e.points = null;
}
// Breaks the layers into lines.
function foldLines() {
  const columns = [...new Set(graph.boxes.map(b => Math.round(b.x)))].sort((a, b) => a - b);
  const ys = graph.boxes.map(b => b.y), tall = Math.max(...ys) - Math.min(...ys) + BOX_H + LINE_SPACE;
  const long = columns.at(-1) - columns[0] + BOX_W;
  const room = long / bestLines(long, tall), lineOfColumn = new Map();
  graph.lines = [];
  for (const x of columns) {
    let line = graph.lines.at(-1);
    if (!line || x - line.left > room) graph.lines.push(line = { left: x, top: Infinity, bottom: -Infinity });
    lineOfColumn.set(x, line);
  }
  for (const box of graph.boxes) {
    box.line = lineOfColumn.get(Math.round(box.x));
    box.line.top = Math.min(box.line.top, box.y);
    box.line.bottom = Math.max(box.line.bottom, box.y);
  }
  let y = 0;
  for (const line of graph.lines) {
    line.dx = -line.left + BOX_W / 2;
    line.dy = y - line.top + BOX_H / 2;
    y += line.bottom - line.top + BOX_H + LINE_SPACE;
    line.end = y - LINE_SPACE / 2;
  }
  for (const box of graph.boxes) {
    box.x += box.line.dx;
    box.y += box.line.dy;
  }
  graph.w = Math.max(...graph.boxes.map(b => b.x)) + BOX_W / 2;
  graph.h = y - LINE_SPACE;
  graph.edges.forEach(routeEdge);
}
// Within a line as dagre has it; to another line along the space between lines.
function routeEdge(e, i) {
  const a = graph.boxes[e.from], b = graph.boxes[e.to];
  const start = { x: a.x + BOX_W / 2, y: a.y }, end = { x: b.x - BOX_W / 2, y: b.y };
  e.curved = a.line === b.line;
  if (e.curved) {
    const inner = e.points ? e.points.slice(1, -1).map(p => ({ x: p.x + a.line.dx, y: p.y + a.line.dy })) : [];
    e.points = [start, ...inner, end];
    return;
  }
  const lane = (i % 7 - 3) * 3, right = start.x + 14 + i % 5 * 3, left = end.x - 14 - i % 5 * 3;
  const across = a.line.end + lane, side = -18 - i % 7 * 3, next = graph.lines[graph.lines.indexOf(b.line) - 1];
  const above = next ? next.end + lane : across;
  e.points = [start, { x: right, y: start.y }, { x: right, y: across }];
  if (next !== a.line) e.points.push({ x: side, y: across }, { x: side, y: above });
  e.points.push({ x: left, y: next === a.line ? across : above }, { x: left, y: end.y }, end);
}
function openBoxes(members, path, title) {
  graph.trail.push({ members, path, title });
  showBoxes();
}
function showBoxes() {
  graph.width = graphCanvas.parentElement.clientWidth;
  const { members, path } = graph.trail.at(-1);
  graph.boxes = makeBoxes(members, path);
  graph.shared = sharedPath(graph.boxes.map(box => box.title));
  graph.boxOfNode = new Map();
  graph.boxes.forEach((box, i) => box.members.forEach(v => graph.boxOfNode.set(v, i)));
  graph.edges = boxEdges();
  graph.current = null;
  layoutBoxes();
  spreadLayers();
  foldLines();
  tallyBoxes();
  sizeGraph();
  fitGraph();
  describeGraph();
}
// Shares of devices in every box and edge, for each placement, by run time.
function tallyBoxes() {
  for (const box of graph.boxes) {
    box.shares = placements.map(p => {
      const share = new Map();
      for (const v of box.members) {
        const took = p.finish[v] - p.start[v] + 1e-12 * (p.makespan || 1);
        share.set(p.device[v], (share.get(p.device[v]) || 0) + took);
      }
      const total = [...share.values()].reduce((a, b) => a + b, 0);
      return [...share].map(([d, t]) => ({ device: d, share: t / total })).sort((a, b) => a.device - b.device);
    });
    box.main = box.shares.map(list => list.reduce((a, b) => b.share > a.share ? b : a).device);
    box.moved = box.members.filter(v => movedAnywhere[v]).length;
    box.critical = placements.map(p => box.members.some(v => p.criticalNode[v]));
  }
  for (const e of graph.edges) {
    e.remote = placements.map(p => e.pairs.filter(([v, w]) => p.device[v] !== p.device[w]).length);
  }
}

// ---- view ---------------------------------------------------------------------------------------
function sizeGraph() {
  const k = Math.min((graphCanvas.parentElement.clientWidth - 2 * MARGIN) / graph.w, LARGEST);
  graph.height = Math.round(Math.min(Math.max(graph.h * k + 2 * MARGIN, LOWEST), TALL));
  graph.width = fitCanvas(graphCanvas, graphContext, graph.height);
}
function fitGraph() {
  graph.k = Math.min((graph.width - 2 * MARGIN) / graph.w, (graph.height - 2 * MARGIN) / graph.h, LARGEST);
  graph.x = (graph.width - graph.w * graph.k) / 2;
  graph.y = (graph.height - graph.h * graph.k) / 2;
  drawGraph();
}
function zoomGraph(factor, px = graph.width / 2, py = graph.height / 2) {
  const k = Math.min(Math.max(graph.k * factor, 0.02), 4), f = k / graph.k;
  graph.x = px - (px - graph.x) * f;
  graph.y = py - (py - graph.y) * f;
  graph.k = k;
  drawGraph();
}
function panGraph(dx, dy) {
  graph.x += dx;
  graph.y += dy;
  drawGraph();
}
function centreOn(box) {
  const px = box.x * graph.k + graph.x, py = box.y * graph.k + graph.y;
  if (px < 40 || px > graph.width - 40) graph.x += graph.width / 2 - px;
  if (py < 30 || py > graph.height - 30) graph.y += graph.height / 2 - py;
}
function layoutGraph() {
  if (!graph.trail.length) return;
  const before = graph.width;
  sizeGraph();
  if (before === graph.width) drawGraph(); else fitGraph();
}

// ---- painting -----------------------------------------------------------------------------------
function paintGraph() {
  const c = graphContext, p = graph.placement.index;
  c.fillStyle = theme.lane;
  c.fillRect(0, 0, graph.width, graph.height);
  c.save();
  c.translate(graph.x, graph.y);
  c.scale(graph.k, graph.k);
  c.lineJoin = "round";
  const here = graph.current === null ? -1 : graph.boxes.indexOf(graph.current);
  const calm = graph.edges.filter(e => e.remote[p] === 0), far = graph.edges.filter(e => e.remote[p] > 0);
  for (const e of calm) paintEdge(e, theme.other, 1);
  for (const e of far) paintEdge(e, theme.ink, 1.6);
  for (const e of graph.edges) if (e.from === here || e.to === here) paintEdge(e, theme.accent, 2.4);
  for (const box of graph.boxes) paintBox(box, p);
  c.restore();
}
const drawGraph = painter(paintGraph);
function paintEdge(e, colour, thick) {
  const c = graphContext, points = e.points, end = points.at(-1);
  c.strokeStyle = c.fillStyle = colour;
  c.lineWidth = thick / Math.max(graph.k, 0.5);
  c.beginPath();
  c.moveTo(points[0].x, points[0].y);
  if (e.curved) {
    let at = points[0];
    for (const next of points.slice(1)) {
      const bend = (next.x - at.x) / 2;
      c.bezierCurveTo(at.x + bend, at.y, next.x - bend, next.y, next.x, next.y);
      at = next;
    }
  } else {
    for (let i = 1; i + 1 < points.length; ++i) c.arcTo(points[i].x, points[i].y, points[i + 1].x, points[i + 1].y, 7);
    c.lineTo(end.x, end.y);
  }
  c.stroke();
  if (graph.k < 0.35) return;
  c.beginPath();
  c.moveTo(end.x, end.y);
  c.lineTo(end.x - 7, end.y - 3.5);
  c.lineTo(end.x - 7, end.y + 3.5);
  c.fill();
}
// Characters of the path that all titles begin with, which tells no boxes apart.
function sharedPath(titles) {
  const first = titles[0];
  let shared = 0;
  for (let at = first.indexOf("/"); at >= 0; at = first.indexOf("/", at + 1)) {
    if (!titles.every(title => title.startsWith(first.slice(0, at + 1)))) break;
    shared = at + 1;
  }
  return shared;
}
// Without the shared path where there is no room for it, then cut in the middle: names differ where
// they begin, "layer3/attention" and "layer4/attention", or where they end, "add_1" and "add_2".
function clippedName(c, text, room) {
  const fits = shown => c.measureText(shown).width <= room;
  if (fits(text)) return text;
  text = text.slice(graph.shared);
  if (fits(text)) return text;
  let low = 0, high = Math.min(text.length, 100);
  const cut = kept => text.slice(0, Math.ceil(kept / 2)) + "…" + text.slice(text.length - Math.floor(kept / 2));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits(cut(middle))) low = middle; else high = middle - 1;
  }
  return low > 1 ? cut(low) : "";
}
// Of "first … last", the first alone where there is no room for both.
function clippedTitle(c, title, room) {
  const ends = title.split(RANGE);
  if (ends.length !== 2 || c.measureText(title).width <= room) return clippedName(c, title, room);
  const close = ends.join("…");
  if (c.measureText(close).width <= room) return close;
  return clippedName(c, ends[0], room - c.measureText(" …").width) + " …";
}
function paintBox(box, p) {
  const c = graphContext, left = box.x - BOX_W / 2, top = box.y - BOX_H / 2, isGroup = box.members.length > 1;
  // A box without a majority has no colour of its own, only stripes.
  const majority = Math.max(...box.shares[p].map(s => s.share)) >= 0.6;
  const colour = majority ? hue(box.main[p]) : mix(theme.other, theme.panel, 0.4);
  c.save();
  if (isGroup) {  // a second card behind
    c.fillStyle = mix(colour, theme.panel, 0.5);
    c.beginPath();
    c.roundRect(left + 5, top + 5, BOX_W, BOX_H, 7);
    c.fill();
  }
  c.beginPath();
  c.roundRect(left, top, BOX_W, BOX_H, 7);
  c.fillStyle = colour;
  c.fill();
  c.save();
  c.clip();
  paintShares(box, p, left, top);
  c.restore();
  if (box.critical[p]) {
    c.lineWidth = 2.2 / Math.max(graph.k, 0.6);
    c.strokeStyle = theme.ink;
    c.stroke();
  }
  if (box === graph.current || selected && selected.node >= 0 && graph.boxes[graph.boxOfNode.get(selected.node)] === box) {
    c.beginPath();
    const out = 5 / Math.max(graph.k, 0.5);
    c.roundRect(left - out, top - out, BOX_W + 2 * out, BOX_H + 2 * out, 7 + out);
    c.lineWidth = 3 / Math.max(graph.k, 0.5);
    c.strokeStyle = theme.accent;
    c.stroke();
  }
  paintText(box, colour, left, top);
  c.restore();
}
// Devices of the nodes inside where they differ: one stripe, or one per placement.
function stripesOf(box, p) {
  if (!comparing) return box.shares[p].length === 1 ? [] : [box.shares[p]];
  const shown = box.shares.slice(0, 3);
  return box.moved === 0 && shown.every(list => list.length === 1) ? [] : shown;
}
const stripeHeight = shown => shown.length === 1 ? 1.7 * STRIPE : STRIPE;
function paintShares(box, p, left, top) {
  const c = graphContext, shown = stripesOf(box, p), tall = stripeHeight(shown);
  shown.forEach((list, i) => {
    const y = top + BOX_H - tall * (shown.length - i);
    let x = left;
    for (const { device, share } of list) {
      c.fillStyle = hue(device);
      c.fillRect(x, y, share * BOX_W, tall);
      x += share * BOX_W;
    }
    c.fillStyle = theme.panel;
    c.fillRect(left, y - 0.75, BOX_W, 1.5);
  });
}
function paintText(box, colour, left, top) {
  const c = graphContext;
  if (graph.k < 0.3) return;
  const size = Math.max(12, 10.5 / graph.k), marked = comparing && box.moved > 0;
  const shown = stripesOf(box, graph.placement.index), stripes = shown.length * stripeHeight(shown), two = graph.k > 0.7 && stripes < 2 * STRIPE;
  const middle = top + (BOX_H - stripes) / 2;
  const label = box.members.length > 1 ? plural(box.members.length, "node") : opName(box.members[0]);
  c.fillStyle = textOn(colour);
  c.textBaseline = "middle";
  c.textAlign = "left";
  c.font = "600 " + size + "px " + FONT;
  c.fillText(clippedTitle(c, box.title, BOX_W - (marked ? 30 : 14)), left + 7, middle - (two ? 8 : -0.5));
  if (two) {
    c.font = "11px " + FONT;
    c.fillText(clipped(c, label, BOX_W - 14), left + 7, middle + 9);
  }
  if (!marked) return;
  c.beginPath();
  c.arc(left + BOX_W - 12, top + 12, 5, 0, 7);
  c.fill();
}

// ---- boxes under the pointer --------------------------------------------------------------------
function boxAt(event) {
  const px = (event.offsetX - graph.x) / graph.k, py = (event.offsetY - graph.y) / graph.k;
  return graph.boxes.find(b => Math.abs(px - b.x) <= BOX_W / 2 && Math.abs(py - b.y) <= BOX_H / 2) || null;
}
const sharesText = list => list.map(s => devices[s.device].name + (list.length > 1 ? " " + percent(s.share) : "")).join(", ");
function groupLines(box) {
  const p = graph.placement, work = box.members.reduce((sum, v) => sum + p.finish[v] - p.start[v], 0);
  const lines = [plural(box.members.length, "node") + ", " + time(work) + " of work"];
  if (comparing) for (const q of placements) lines.push(q.letter + ": " + sharesText(box.shares[q.index]));
  else lines.push("on " + sharesText(box.shares[0]));
  const critical = box.members.filter(v => p.criticalNode[v]).length;
  if (critical) lines.push(plural(critical, "node") + " on the critical path");
  if (comparing && box.moved) lines.push(plural(box.moved, "node") + " moved");
  lines.push("Enter or double click opens it.");
  return lines;
}
function chooseBox(box) {
  graph.current = box;
  if (box && box.members.length === 1) select(graph.placement.sliceOfNode[box.members[0]], true);
  else if (box) {
    if (selected) select(null);
    graph.current = box;
    $("graph-state").textContent = box.title + ": " + groupLines(box).slice(0, -1).join("; ");
  }
  drawGraph();
}
function stepBox(direction) {
  const order = [...graph.boxes].sort((a, b) => graph.lines.indexOf(a.line) - graph.lines.indexOf(b.line) || a.x - b.x || a.y - b.y);
  const at = graph.current ? order.indexOf(graph.current) : direction > 0 ? -1 : order.length;
  const box = order[(at + direction + order.length) % order.length];
  chooseBox(box);
  centreOn(box);
}
function openCurrent() {
  const box = graph.current;
  if (!box || box.members.length === 1) return false;
  openBoxes(box.members, box.path, box.title);
}
function closeGroup() {
  if (graph.trail.length < 2) return false;
  graph.trail.pop();
  showBoxes();
}
function describeGraph() {
  const { members, title } = graph.trail.at(-1);
  const inside = new Set(members);
  const from = members.reduce((n, v) => n + inputs[v].filter(u => !inside.has(u)).length, 0);
  const to = members.reduce((n, v) => n + consumers[v].filter(u => !inside.has(u)).length, 0);
  const groups = graph.boxes.filter(b => b.members.length > 1).length;
  const shown = groups ? plural(members.length, "node") + " in " + count(graph.boxes.length) + " boxes"
    : plural(members.length, "node");
  $("graph-state").textContent = graph.trail.length > 1
    ? title + ": " + shown + ", " + plural(from, "edge") + " in, " + plural(to, "edge") + " out" : shown;
  $("graph-up").hidden = graph.trail.length < 2;
  graphCanvas.setAttribute("aria-label", "Graph coloured by device, " + shown);
  const perDevice = new Map();
  for (const b of graph.boxes) {
    const name = devices[b.main[graph.placement.index]].name;
    perDevice.set(name, (perDevice.get(name) || 0) + 1);
  }
  $("graph-summary").textContent = "Boxes mostly on each device: " +
    [...perDevice].map(([name, n]) => name + " " + n).join(", ") +
    ". The table of nodes below has the same as text.";
}
// Brings the node's box into view, from the outermost view if need be.
function revealInGraph(v) {
  if (!graph.boxOfNode.has(v)) {
    graph.trail.length = 1;
    showBoxes();
  }
  graph.current = graph.boxes[graph.boxOfNode.get(v)];
  centreOn(graph.current);
  drawGraph();
}

// ---- events -------------------------------------------------------------------------------------
function startGraph() {
  for (const p of placements) $("graph-placement").append(new Option(p.letter + " " + brief(p.label, 40), p.index));
  $("graph-of").hidden = !comparing;
  $("graph-placement").addEventListener("change", event => {
    graph.placement = placements[event.target.value];
    describeGraph();
    drawGraph();
  });
  draggable(graphCanvas, panGraph, event => chooseBox(boxAt(event)), event => {
    const box = boxAt(event);
    if (!box) return hideTip();
    const single = box.members.length === 1;
    showTip(event, box.title, single ? tipLines(graph.placement.sliceOfNode[box.members[0]]) : groupLines(box));
  });
  graphCanvas.addEventListener("dblclick", event => {
    graph.current = boxAt(event);
    openCurrent();
  });
  graphCanvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;  // let the page scroll
    zoomGraph(Math.exp(-event.deltaY * 0.004), event.offsetX, event.offsetY);
    event.preventDefault();
  }, { passive: false });
  const far = 60;
  onKeys(graphCanvas, {
    ArrowLeft: () => panGraph(far, 0), ArrowRight: () => panGraph(-far, 0),
    ArrowUp: () => panGraph(0, far), ArrowDown: () => panGraph(0, -far),
    "+": () => zoomGraph(1.3), "=": () => zoomGraph(1.3), "-": () => zoomGraph(1 / 1.3),
    "0": fitGraph, Home: fitGraph, n: () => stepBox(1), p: () => stepBox(-1),
    Enter: openCurrent, Backspace: closeGroup
  });
  $("graph-up").addEventListener("click", closeGroup);
  $("graph-in").addEventListener("click", () => zoomGraph(1.4));
  $("graph-out").addEventListener("click", () => zoomGraph(1 / 1.4));
  $("graph-fit").addEventListener("click", fitGraph);
  onSelect.push(s => {
    if (s && s.node >= 0 && graph.boxOfNode.has(s.node)) graph.current = graph.boxes[graph.boxOfNode.get(s.node)];
    drawGraph();
  });
  openBoxes(nodes.name.map((_, v) => v), [], "");
}
