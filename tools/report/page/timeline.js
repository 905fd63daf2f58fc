"use strict";
// Draws the run described by the JSON in #data. Names come from files: they reach the page through
// textContent and fillText only.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes, transfers = data.transfers;
const $ = id => document.getElementById(id);

// ---- text ---------------------------------------------------------------------------------
const digits = x => x >= 999.5 ? 0 : x >= 99.95 ? 1 : x >= 9.995 ? 2 : 3;
const fixed = (x, unit) => x.toFixed(digits(Math.abs(x))) + unit;
const time = us => us === 0 ? "0" : Math.abs(us) < 999.5 ? fixed(us, " µs")
  : Math.abs(us) < 999.5e3 ? fixed(us / 1e3, " ms") : fixed(us / 1e6, " s");
const bytes = b => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = 0;
  while (b >= 1023.5 && u + 1 < units.length) { b /= 1024; ++u; }
  return (u === 0 ? b : b.toFixed(b >= 99.5 ? 0 : b >= 9.95 ? 1 : 2)) + " " + units[u];
};
const percent = x => (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %";
const count = n => n.toLocaleString("en");
function element(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}
function definitions(parent, pairs) {
  for (const [term, value] of pairs) {
    const div = element("div");
    div.append(element("dt", term), element("dd", value));
    parent.append(div);
  }
}

// ---- slices and rows ------------------------------------------------------------------------
// A row is a device or a lane of a channel; its slices are in time order and do not overlap.
const criticalNode = new Uint8Array(nodes.name.length);
const criticalTransfer = new Uint8Array(transfers.start.length);
for (const v of data.critical.nodes) criticalNode[v] = 1;
for (const t of data.critical.transfers) criticalTransfer[t] = 1;
const rows = data.devices.map((device, d) => ({ title: device.name, device: d, slices: [] }));
for (const title of transfers.lanes) rows.push({ title, device: -1, slices: [] });
const laneRow = lane => data.devices.length + lane;
nodes.name.forEach((name, v) => rows[nodes.device[v]].slices.push(
  { node: v, transfer: -1, row: nodes.device[v], start: nodes.start[v], finish: nodes.finish[v] }));
transfers.start.forEach((start, t) => rows[laneRow(transfers.lane[t])].slices.push(
  { node: -1, transfer: t, row: laneRow(transfers.lane[t]), start, finish: transfers.finish[t] }));
const sliceOfNode = [];
for (const row of rows) {
  row.slices.sort((a, b) => a.start - b.start || a.finish - b.finish);
  row.slices.forEach((s, i) => { s.at = i; if (s.node >= 0) sliceOfNode[s.node] = s; });
}
const inputs = nodes.name.map(() => []), consumers = nodes.name.map(() => []);
data.edges.source.forEach((source, e) => {
  const target = data.edges.target[e];
  inputs[target].push(source);
  consumers[source].push(target);
});
const transfersOf = nodes.name.map(() => []);
transfers.producer.forEach((v, t) => transfersOf[v].push(t));

const sliceName = s => s.node >= 0 ? nodes.name[s.node]
  : nodes.name[transfers.producer[s.transfer]] + " : " + transfers.output[s.transfer];
const sliceOp = s => s.node >= 0 ? nodes.ops[nodes.op[s.node]] : "transfer";
const isCritical = s => s.node >= 0 ? criticalNode[s.node] : criticalTransfer[s.transfer];
const destination = t => transfers.to[t] < 0 ? "every consumer's device"
  : data.devices[transfers.to[t]].name;

// ---- colours --------------------------------------------------------------------------------
const opTime = nodes.ops.map(() => 0);
nodes.op.forEach((op, v) => { opTime[op] += nodes.finish[v] - nodes.start[v]; });
const opsByTime = nodes.ops.map((_, op) => op).sort((a, b) => opTime[b] - opTime[a] || a - b);
const colourOfOp = nodes.ops.map(() => 9);
opsByTime.slice(0, 9).forEach((op, i) => { colourOfOp[op] = i; });
let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = name => style.getPropertyValue("--" + name).trim();
  theme = { series: [...Array(10).keys()].map(i => value("s" + i)) };
  for (const name of ["panel", "ink", "soft", "line", "grid", "lane", "accent", "bad", "critical",
                      "calm", "mem", "mem-fill"]) theme[name] = value(name);
}
const byCritical = () => $("colour").value === "critical";
function sliceColour(s) {
  if (byCritical()) return isCritical(s) ? theme.critical : theme.calm;
  return s.node >= 0 ? theme.series[colourOfOp[nodes.op[s.node]]] : theme.soft;
}
function drawLegend() {
  const total = opTime.reduce((a, b) => a + b, 0) || 1;
  const entries = byCritical()
    ? [[theme.critical, "on the critical path"], [theme.calm, "not on it"]]
    : opsByTime.slice(0, 9).map(op =>
        [theme.series[colourOfOp[op]], nodes.ops[op] + " " + percent(opTime[op] / total)]);
  if (!byCritical()) {
    if (opsByTime.length > 9) entries.push([theme.series[9], "other operators"]);
    if (transfers.start.length) entries.push([theme.soft, "transfer"]);
  }
  $("legend").replaceChildren(...entries.map(([colour, text]) => {
    const item = element("li"), mark = element("i");
    mark.style.background = colour;
    item.append(mark, text);
    return item;
  }));
}

// ---- view -----------------------------------------------------------------------------------
const canvas = $("canvas"), context = canvas.getContext("2d");
const span = Math.max(data.drain, data.makespan, 1e-6);
const AXIS = 26, LANE = 30, MEMORY = 44, CHANNEL = 22, SPACE = 8, TALLEST = 16000;
let view = { from: 0, to: span }, width = 0, height = 0, gutter = 130, selected = null, pending = false;
const x = us => gutter + (us - view.from) / (view.to - view.from) * (width - gutter - 10);
const timeAt = px => view.from + (px - gutter) / (width - gutter - 10) * (view.to - view.from);

function layout() {
  const showMemory = $("memory").checked;
  let y = AXIS;
  for (const row of rows) {
    row.y = y;
    row.h = row.device >= 0 ? LANE : CHANNEL;
    row.memoryY = y + LANE + 2;
    y += row.h + SPACE + (row.device >= 0 && showMemory ? MEMORY + 2 : 0);
  }
  width = Math.max(canvas.parentElement.clientWidth, 320);
  height = y + 4;
  gutter = Math.min(190, Math.max(90, width * 0.13));
  const ratio = Math.min(window.devicePixelRatio || 1, Math.max(TALLEST / height, 0.25));
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw();
}
function setView(from, to) {
  const length = Math.min(Math.max(to - from, span / 1e7), span);
  from = Math.min(Math.max(from, 0), span - length);
  view = { from, to: from + length };
  draw();
}
function zoom(factor, around = (view.from + view.to) / 2) {
  setView(around - (around - view.from) * factor, around + (view.to - around) * factor);
}
function draw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; paint(); });
}

// First slice of the row that finishes at or after the time.
function firstAfter(slices, us) {
  let low = 0, high = slices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slices[middle].finish < us) low = middle + 1; else high = middle;
  }
  return low;
}
function clipped(text, room) {
  if (context.measureText(text).width <= room) return text;
  let n = text.length;
  while (n > 1 && context.measureText(text.slice(0, n) + "…").width > room) n = n * 3 >> 2;
  while (n < text.length && context.measureText(text.slice(0, n + 1) + "…").width <= room) ++n;
  return n > 2 ? text.slice(0, n) + "…" : "";
}

function paint() {
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, width, height);
  paintAxis();
  const showMemory = $("memory").checked;
  for (const row of rows) {
    paintTitle(row);
    if (row.device >= 0 && showMemory) paintMemoryTitle(row);
    context.save();
    context.beginPath();
    context.rect(gutter, 0, width - gutter, height);
    context.clip();
    paintRow(row);
    if (row.device >= 0 && showMemory) paintMemory(row);
    context.restore();
  }
  paintSelection();
}
function paintAxis() {
  const wanted = (view.to - view.from) / Math.max((width - gutter) / 110, 2);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = power * [1, 2, 5, 10].find(m => m * power >= wanted);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let i = Math.ceil(view.from / step); i * step <= view.to; ++i) {
    const px = Math.round(x(i * step)) + 0.5;
    context.strokeStyle = theme.grid;
    context.beginPath();
    context.moveTo(px, AXIS - 6);
    context.lineTo(px, height);
    context.stroke();
    context.fillStyle = theme.soft;
    const text = axisLabel(i * step, step);
    if (px + 4 + context.measureText(text).width < width) context.fillText(text, px + 3, AXIS - 14);
  }
  const end = Math.round(x(data.makespan)) + 0.5;
  if (end < gutter || end > width) return;
  context.strokeStyle = theme.soft;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(end, AXIS - 6);
  context.lineTo(end, height);
  context.stroke();
  context.setLineDash([]);
}
function axisLabel(us, step) {
  const [unit, scale] = view.to >= 2e6 ? ["s", 1e6] : view.to >= 2e3 ? ["ms", 1e3] : ["µs", 1];
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)), 9);
  return (us / scale).toFixed(decimals) + " " + unit;
}
function paintTitle(row) {
  context.font = (row.device >= 0 ? "600 13px" : "12px") + " system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = row.device >= 0 ? theme.ink : theme.soft;
  context.fillText(clipped(row.title, gutter - 10), 0, row.y + row.h / 2);
}
// Slices narrower than a pixel are drawn as one block per run of them: cost follows pixels.
function paintRow(row) {
  context.fillStyle = theme.lane;
  context.fillRect(gutter, row.y, width - gutter - 10, row.h);
  context.font = "11px system-ui, sans-serif";
  let lastEnd = -1, lastColour = "";
  for (let i = firstAfter(row.slices, view.from); i < row.slices.length; ++i) {
    const s = row.slices[i];
    if (s.start > view.to) break;
    const left = Math.max(x(s.start), gutter - 2), right = Math.min(x(s.finish), width);
    const w = Math.max(right - left, 0.75);
    const colour = sliceColour(s);
    if (w < 1 && left + w <= lastEnd && colour === lastColour) continue;
    context.fillStyle = colour;
    context.fillRect(left, row.y, w > 4 ? w - 1 : w, row.h);
    lastEnd = left + Math.max(w, 1);
    lastColour = colour;
    if (w > 34) {
      context.fillStyle = byCritical() && !isCritical(s) ? theme.ink : theme.panel;
      context.fillText(clipped(sliceName(s), w - 8), left + 4, row.y + row.h / 2);
    }
  }
}
function paintMemory(row) {
  const device = data.devices[row.device], top = row.memoryY, bottom = top + MEMORY - 2;
  const limit = device.limit, highest = Math.max(device.peak, 1);
  const nearLimit = limit !== null && limit < highest * 4;
  const scale = (bottom - top - 3) / (nearLimit ? Math.max(limit, highest) : highest);
  const level = b => bottom - b * scale;
  const at = device.memory_at, used = device.memory;
  let i = 0, high = at.length;
  while (i + 1 < high) {
    const middle = (i + high) >> 1;
    if (at[middle] <= view.from) i = middle; else high = middle;
  }
  context.beginPath();
  context.moveTo(gutter, bottom);
  for (let px = gutter, current = used[i]; px <= Math.min(x(view.to), width); ++px) {
    let most = current;
    while (i + 1 < at.length && x(at[i + 1]) <= px) {
      current = used[++i];
      most = Math.max(most, current);
    }
    context.lineTo(px, level(most));
  }
  context.lineTo(Math.min(x(view.to), width), bottom);
  context.closePath();
  context.fillStyle = theme["mem-fill"];
  context.fill();
  context.strokeStyle = theme.mem;
  context.stroke();
  if (nearLimit) {
    context.strokeStyle = theme.bad;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(gutter, level(limit) + 0.5);
    context.lineTo(width - 10, level(limit) + 0.5);
    context.stroke();
    context.setLineDash([]);
  }
}
function paintMemoryTitle(row) {
  const device = data.devices[row.device], limit = device.limit;
  const share = limit === null ? "" : " (" + percent(device.peak / limit) + " of limit)";
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = limit !== null && device.peak > limit ? theme.bad : theme.soft;
  context.fillText(clipped("memory, peak", gutter - 10), 0, row.memoryY + 12);
  context.fillText(clipped(bytes(device.peak) + share, gutter - 10), 0, row.memoryY + 27);
}
function paintSelection() {
  if (!selected) return;
  const s = selected, row = rows[s.row];
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, height);
  context.clip();
  const related = [];
  if (s.node >= 0) {
    for (const v of inputs[s.node].slice(0, 200)) related.push([sliceOfNode[v], s]);
    for (const v of consumers[s.node].slice(0, 200)) related.push([s, sliceOfNode[v]]);
    for (const t of transfersOf[s.node]) related.push([s, transferSlice(t)]);
  } else {
    related.push([sliceOfNode[transfers.producer[s.transfer]], s]);
  }
  context.strokeStyle = theme.accent;
  context.lineWidth = 1;
  for (const [from, to] of related) {
    const x0 = x(from.finish), y0 = rows[from.row].y + rows[from.row].h / 2;
    const x1 = x(to.start), y1 = rows[to.row].y + rows[to.row].h / 2;
    if (from.row === to.row) continue;
    const bend = Math.max(Math.abs(x1 - x0) / 2, 18);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
  }
  context.lineWidth = 2.5;
  context.strokeStyle = theme.ink;
  context.strokeRect(x(s.start) - 1, row.y - 2, Math.max(x(s.finish) - x(s.start), 1) + 2, row.h + 4);
  context.restore();
}
const transferSlice = t => rows[laneRow(transfers.lane[t])].slices.find(s => s.transfer === t);

// ---- selection ------------------------------------------------------------------------------
function describe(s) {
  const length = s.finish - s.start;
  if (s.node < 0) {
    const t = s.transfer;
    return [["kind", "transfer"], ["bytes", bytes(transfers.bytes[t])], ["to", destination(t)],
            ["channel", rows[s.row].title], ["start", time(s.start)], ["end", time(s.finish)],
            ["takes", time(length)], ["arrives", time(transfers.arrival[t])]];
  }
  const v = s.node;
  const remote = inputs[v].filter(u => nodes.device[u] !== nodes.device[v]).length;
  return [["op", sliceOp(s)], ["device", data.devices[nodes.device[v]].name],
          ["start", time(s.start)], ["finish", time(s.finish)], ["takes", time(length)],
          ["resident", bytes(nodes.resident[v])],
          ["inputs", inputs[v].length + (remote ? " (" + remote + " from other devices)" : "")],
          ["consumers", String(consumers[v].length)]];
}
function select(s, reveal) {
  selected = s;
  const panel = $("details");
  panel.replaceChildren();
  if (!s) {
    panel.append(element("p", "Nothing selected: point at a slice, or press an arrow key."));
    return draw();
  }
  const list = element("dl");
  const pairs = describe(s);
  if (isCritical(s)) pairs.push(["critical path", "yes"]);
  definitions(list, pairs);
  panel.append(element("b", sliceName(s)), list);
  if (reveal && (s.finish < view.from || s.start > view.to ||
                 s.start < view.from && s.finish < view.to)) {
    const half = (view.to - view.from) / 2, middle = (s.start + s.finish) / 2;
    return setView(middle - half, middle + half);
  }
  draw();
}
function nearest(row, us) {
  const slices = rows[row].slices;
  if (!slices.length) return null;
  const after = slices[Math.min(firstAfter(slices, us), slices.length - 1)];
  const before = slices[Math.max(after.at - 1, 0)];
  return Math.abs(after.start - us) <= Math.abs(before.finish - us) ? after : before;
}
function moveRow(direction) {
  const us = selected ? (selected.start + selected.finish) / 2 : view.from;
  let row = selected ? selected.row : direction > 0 ? -1 : rows.length;
  for (row += direction; row >= 0 && row < rows.length; row += direction) {
    const s = nearest(row, us);
    if (s) return select(s, true);
  }
}
function moveAlong(direction) {
  if (!selected) return moveRow(1);
  select(rows[selected.row].slices[selected.at + direction] || selected, true);
}
function moveCritical() {
  const path = data.critical.nodes;
  const at = selected && selected.node >= 0 ? path.indexOf(selected.node) : -1;
  if (path.length) select(sliceOfNode[path[(at + 1) % path.length]], true);
}
function zoomToSelection() {
  if (!selected) return;
  const half = Math.max(selected.finish - selected.start, span / 1e6) * 4;
  setView(selected.start - half, selected.finish + half);
}
function sliceAt(px, py) {
  const row = rows.findIndex(r => py >= r.y - 2 && py <= r.y + r.h + 2);
  if (row < 0 || px < gutter) return null;
  const reach = 3 / (width - gutter) * (view.to - view.from), us = timeAt(px);
  const slices = rows[row].slices;
  let best = null, distance = reach;
  for (let i = firstAfter(slices, us - reach); i < slices.length && slices[i].start <= us + reach; ++i) {
    const gap = Math.max(slices[i].start - us, us - slices[i].finish, 0);
    if (gap < distance || !best && gap <= reach) [best, distance] = [slices[i], gap];
  }
  return best;
}

// ---- events ---------------------------------------------------------------------------------
let drag = null;
function hover(event) {
  const s = sliceAt(event.offsetX, event.offsetY), tip = $("tip");
  tip.hidden = !s;
  if (!s) return;
  const facts = describe(s).slice(0, 5).map(([k, v]) => k + " " + v).join(", ");
  tip.replaceChildren(element("b", sliceName(s)), facts);
  const right = event.offsetX > width - 380;
  tip.style.left = right ? "" : event.offsetX + 14 + "px";
  tip.style.right = right ? width - event.offsetX + 14 + "px" : "";
  tip.style.top = event.offsetY + 16 + "px";
}
canvas.addEventListener("pointerdown", event => {
  drag = { px: event.offsetX, from: view.from, to: view.to, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", event => {
  if (!drag) return hover(event);
  const moved = event.offsetX - drag.px;
  if (Math.abs(moved) > 3) drag.moved = true;
  if (!drag.moved) return;
  $("tip").hidden = true;
  canvas.classList.add("moving");
  const shift = moved / (width - gutter - 10) * (drag.to - drag.from);
  setView(drag.from - shift, drag.to - shift);
});
canvas.addEventListener("pointerup", event => {
  if (drag && !drag.moved) select(sliceAt(event.offsetX, event.offsetY), false);
  drag = null;
  canvas.classList.remove("moving");
});
canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
canvas.addEventListener("dblclick", zoomToSelection);
canvas.addEventListener("wheel", event => {
  const sideways = event.shiftKey ? event.deltaY : event.deltaX;
  if (event.ctrlKey || event.metaKey) {
    zoom(Math.exp(event.deltaY * 0.004), timeAt(event.offsetX));
  } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    const shift = sideways / width * (view.to - view.from);
    setView(view.from + shift, view.to + shift);
  } else {
    return;  // let the page scroll
  }
  event.preventDefault();
}, { passive: false });
const keys = {
  ArrowLeft: () => moveAlong(-1), ArrowRight: () => moveAlong(1),
  ArrowUp: () => moveRow(-1), ArrowDown: () => moveRow(1),
  "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": () => setView(0, span),
  Home: () => selected && select(rows[selected.row].slices[0], true),
  End: () => selected && select(rows[selected.row].slices.at(-1), true),
  c: moveCritical, z: zoomToSelection, Escape: () => select(null)
};
canvas.addEventListener("keydown", event => {
  const action = keys[event.key] || keys[event.key.toLowerCase()];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  $("tip").hidden = true;
  action();
});
let matches = [], match = -1;
function find(text) {
  const wanted = text.toLowerCase();
  matches = wanted ? nodes.name.map((_, v) => v)
    .filter(v => nodes.name[v].toLowerCase().includes(wanted)) : [];
  match = -1;
  $("found").textContent = wanted ? count(matches.length) + " found" : "";
  if (matches.length) select(sliceOfNode[matches[match = 0]], true);
}
$("find").addEventListener("input", event => find(event.target.value));
$("find").addEventListener("keydown", event => {
  if (event.key !== "Enter" || !matches.length) return;
  match = (match + (event.shiftKey ? matches.length - 1 : 1)) % matches.length;
  $("found").textContent = match + 1 + " of " + count(matches.length);
  select(sliceOfNode[matches[match]], true);
});
$("colour").addEventListener("change", () => { drawLegend(); draw(); });
$("memory").addEventListener("change", layout);
$("zoom-in").addEventListener("click", () => zoom(0.6));
$("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
$("fit").addEventListener("click", () => setView(0, span));
window.addEventListener("resize", layout);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readTheme(); drawLegend(); draw();
});

// ---- tables ---------------------------------------------------------------------------------
function header(table, titles) {
  const row = element("tr");
  for (const title of titles) {
    const cell = element("th", title);
    cell.scope = "col";
    row.append(cell);
  }
  const head = element("thead");
  head.append(row);
  table.append(head);
}
function deviceTable() {
  header($("devices"), ["device", "kind", "nodes", "busy", "peak memory", "limit"]);
  const body = element("tbody");
  data.devices.forEach((device, d) => {
    const row = element("tr"), share = device.busy / (data.makespan || 1);
    const busy = element("td", percent(share)), meter = element("span", "", "meter"), fill = element("i");
    fill.style.width = Math.min(100 * share, 100) + "%";
    meter.append(fill);
    busy.append(meter);
    const over = device.limit !== null && device.peak > device.limit;
    row.append(element("td", device.name), element("td", device.kind),
               element("td", count(rows[d].slices.length)), busy,
               element("td", bytes(device.peak), over ? "over" : ""),
               element("td", device.limit === null ? "none" : bytes(device.limit)));
    body.append(row);
  });
  $("devices").append(body);
}
function candidateTable() {
  if (!data.candidates.length) return $("candidates-section").remove();
  const bound = data.lower_bound;
  header($("candidates"), ["method", "makespan", "÷ bound", "fits", ...data.devices.map(d => d.name)]);
  const body = element("tbody");
  for (const c of data.candidates) {
    const row = element("tr", undefined, c.chosen ? "chosen" : c.feasible ? "" : "infeasible");
    row.append(element("td", c.method + (c.chosen ? "  ◂ chosen" : "")),
               element("td", time(c.makespan)),
               element("td", bound > 0 ? (c.makespan / bound).toFixed(3) : "-"),
               element("td", c.feasible ? "yes" : "no", c.feasible ? "yes" : "over"));
    c.memory.forEach((b, d) => {
      const limit = data.devices[d].limit;
      row.append(element("td", bytes(b), limit !== null && b > limit ? "over" : ""));
    });
    body.append(row);
  }
  $("candidates").append(body);
}

// ---- start ----------------------------------------------------------------------------------
const moved = transfers.bytes.reduce((a, b) => a + b, 0);
$("subtitle").textContent = (data.method ? "Placed by " + data.method + ". " : "") +
  "What the cost model predicts.";
const facts = [["makespan", time(data.makespan)]];
if (data.lower_bound > 0) {
  facts.push(["lower bound", time(data.lower_bound)],
             ["÷ bound", (data.makespan / data.lower_bound).toFixed(3)]);
}
facts.push(["bottleneck", time(data.bottleneck)], ["nodes", count(nodes.name.length)],
           ["transfers", count(transfers.start.length)], ["bytes moved", bytes(moved)],
           ["critical path", count(data.critical.nodes.length) + " nodes"]);
definitions($("facts"), facts);
canvas.setAttribute("aria-label", "Timeline of " + count(nodes.name.length) + " nodes on " +
  data.devices.length + " devices, makespan " + time(data.makespan));
if (rows.length > 60) $("memory").checked = false;
readTheme();
deviceTable();
candidateTable();
drawLegend();
select(null);
layout();
})();
