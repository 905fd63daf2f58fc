// The timeline: every placement's devices and channels as rows on one time axis.
const canvas = $("canvas"), context = canvas.getContext("2d");
const span = Math.max(...placements.map(p => Math.max(p.drain, p.makespan))) || 1e-6;
const AXIS = 28, HEAD = 30, LANE = 26, CHANNEL = 15, SPACE = 6, RIGHT = 12;
let view = { from: 0, to: span }, width = 0, height = 0, gutter = 130;
const onView = [];
const timelineRows = placements.flatMap(p =>
  p.rows.filter(row => row.device < 0 || shownDevices.includes(row.device)));
const x = us => gutter + (us - view.from) / (view.to - view.from) * (width - gutter - RIGHT);
const timeAt = px => view.from + (px - gutter) / (width - gutter - RIGHT) * (view.to - view.from);

function layoutTimeline() {
  let y = AXIS;
  let current = null;
  for (const row of timelineRows) {
    if (row.placement !== current) {
      current = row.placement;
      current.headY = y;
      y += comparing ? HEAD : 4;
    }
    row.y = y;
    row.h = row.device >= 0 ? LANE : CHANNEL;
    y += row.h + SPACE;
  }
  height = y + 4;
  width = fitCanvas(canvas, context, height);
  gutter = Math.min(170, Math.max(84, width * 0.12));
  paintTimeline();
}
function setView(from, to) {
  const length = Math.min(Math.max(to - from, span / 1e7), span);
  from = Math.min(Math.max(from, 0), span - length);
  view = { from, to: from + length };
  $("range").textContent = length === span ? "" : time(view.from) + " to " + time(view.to);
  drawTimeline();
  for (const f of onView) f();
}
function zoom(factor, around = (view.from + view.to) / 2) {
  setView(around - (around - view.from) * factor, around + (view.to - around) * factor);
}
function pan(share) {
  const shift = share * (view.to - view.from);
  setView(view.from + shift, view.to + shift);
}
const fitView = () => setView(0, span);

// ---- colours ------------------------------------------------------------------------------------
const opTime = nodes.ops.map(() => 0);
nodes.op.forEach((op, v) => { opTime[op] += placements[0].finish[v] - placements[0].start[v]; });
const opsByTime = nodes.ops.map((_, op) => op).sort((a, b) => opTime[b] - opTime[a] || a - b);
const hueOfOp = nodes.ops.map(() => -1);
opsByTime.slice(0, HUES).forEach((op, i) => { hueOfOp[op] = i; });
const opColour = op => hueOfOp[op] < 0 ? theme.other : theme.hues[hueOfOp[op]];
function sourceColour(s) {
  const p = placementOf(s);
  return hue(p.device[s.node >= 0 ? s.node : p.transfers.producer[s.transfer]]);
}
function sliceColour(s, mode) {
  if (mode === "op") return s.node >= 0 ? opColour(nodes.op[s.node]) : theme.other;
  if (mode === "moved") {
    return s.node >= 0 && movedAnywhere[s.node] ? hue(placementOf(s).device[s.node]) : theme.line;
  }
  return isCritical(s) ? sourceColour(s) : tint(sourceColour(s));
}
function drawLegend() {
  const mode = $("colour").value, total = opTime.reduce((a, b) => a + b, 0) || 1;
  const entries = mode !== "op" ? [] : opsByTime.slice(0, HUES).map(op =>
    [opColour(op), nodes.ops[op] + " " + percent(opTime[op] / total)]);
  if (entries.length && opsByTime.length > HUES) entries.push([theme.other, "other operators"]);
  $("legend").replaceChildren(...entries.map(([colour, text]) =>
    element("li", [swatch(colour), text])));
}

// ---- painting -----------------------------------------------------------------------------------
// First slice of the row that finishes at or after the time.
function firstAfter(slices, us) {
  let low = 0, high = slices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slices[middle].finish < us) low = middle + 1; else high = middle;
  }
  return low;
}
function paintTimeline() {
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, width, height);
  context.textBaseline = "middle";
  context.textAlign = "left";
  paintAxis();
  for (const row of timelineRows) paintTitle(row);
  if (comparing) for (const p of placements) paintHead(p);
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter - RIGHT + 1, height);
  context.clip();
  const mode = $("colour").value;
  for (const row of timelineRows) paintRow(row, mode);
  for (const p of placements) paintStages(p);
  for (const p of placements) paintEnd(p);
  paintSelection();
  context.restore();
}
const drawTimeline = painter(paintTimeline);
function paintAxis() {
  const wanted = (view.to - view.from) / Math.max((width - gutter) / 120, 2);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = power * [1, 2, 5, 10].find(m => m * power >= wanted);
  context.font = "11px " + FONT;
  for (let i = Math.ceil(view.from / step); i * step <= view.to; ++i) {
    const px = Math.round(x(i * step)) + 0.5;
    context.strokeStyle = theme.grid;
    context.beginPath();
    context.moveTo(px, AXIS - 8);
    context.lineTo(px, height);
    context.stroke();
    context.fillStyle = theme.soft;
    const text = axisLabel(i * step, step);
    if (px + 4 + context.measureText(text).width < width) context.fillText(text, px + 3, AXIS - 15);
  }
  // Which part of the run is in view.
  if (view.to - view.from >= span) return;
  const room = width - gutter - RIGHT;
  context.fillStyle = theme.grid;
  context.fillRect(gutter, 1, room, 3);
  context.fillStyle = theme.accent;
  context.fillRect(gutter + view.from / span * room, 1,
                   Math.max((view.to - view.from) / span * room, 3), 3);
}
function axisLabel(us, step) {
  const [unit, scale] = view.to >= 2e6 ? ["s", 1e6] : view.to >= 2e3 ? ["ms", 1e3]
    : view.to >= 2 ? ["µs", 1] : view.to >= 2e-3 ? ["ns", 1e-3] : ["ps", 1e-6];
  if (step / scale < 1e-9) return scientific(us, "µs");
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)), 9);
  return (us / scale).toFixed(decimals) + " " + unit;
}
function paintHead(p) {
  const y = p.headY + HEAD / 2;
  context.fillStyle = theme.panel;
  context.fillRect(0, p.headY + 3, width, HEAD - 6);
  context.fillStyle = theme.ink;
  context.beginPath();
  context.roundRect(0, y - 9, 22, 18, 5);
  context.fill();
  context.font = "650 12px " + FONT;
  context.fillStyle = theme.panel;
  context.textAlign = "center";
  context.fillText(p.letter, 11, y + 0.5);
  context.textAlign = "left";
  context.fillStyle = theme.ink;
  context.font = "600 13px " + FONT;
  const figures = time(objective(p)) + (p.index ? "  " + change(objective(p), objective(placements[0])) : "") +
    (p === winner ? "  best" : "") + (p.feasible ? "" : "  not feasible");
  const room = width - 60 - context.measureText(figures).width;
  const label = clipped(context, p.label, Math.max(room, 60));
  context.fillText(label, 30, y);
  const at = 30 + context.measureText(label).width + 14;
  context.font = "13px " + FONT;
  context.fillStyle = p.feasible ? theme.soft : theme.bad;
  context.fillText(figures, at, y);
}
function paintTitle(row) {
  const y = row.y + row.h / 2;
  let left = 0;
  if (row.device >= 0) {
    context.fillStyle = hue(row.device);
    context.beginPath();
    context.roundRect(0, row.y + 7, 12, 12, 3);
    context.fill();
    left = 18;
  }
  context.font = (row.device >= 0 ? "600 13px " : "11px ") + FONT;
  context.fillStyle = row.device >= 0 ? theme.ink : theme.soft;
  context.fillText(clipped(context, row.title, gutter - left - 10), left, y);
}
// Slices narrower than a pixel are drawn as one block per run of them: cost follows pixels.
function paintRow(row, mode) {
  context.fillStyle = theme.lane;
  context.fillRect(gutter, row.y, width - gutter - RIGHT, row.h);
  context.font = "11px " + FONT;
  let lastEnd = -1, lastColour = "";
  for (let i = firstAfter(row.slices, view.from); i < row.slices.length; ++i) {
    const s = row.slices[i];
    if (s.start > view.to) break;
    const left = Math.max(x(s.start), gutter - 2), right = Math.min(x(s.finish), width);
    const w = Math.max(right - left, 0.75);
    const colour = sliceColour(s, mode);
    if (w < 1 && left + w <= lastEnd && colour === lastColour) continue;
    context.fillStyle = colour;
    context.fillRect(left, row.y, w > 4 ? w - 1 : w, row.h);
    lastEnd = left + Math.max(w, 1);
    lastColour = colour;
    if (w > 34 && row.h > 20) {
      context.fillStyle = textOn(colour);
      context.fillText(clipped(context, sliceName(s), w - 9), left + 4, row.y + row.h / 2 + 0.5);
    }
  }
}
// A bracket below the device's row for each stage.
function paintStages(p) {
  context.strokeStyle = theme.ink;
  for (const { device, start, finish } of p.stages) {
    const row = p.rows[device], left = Math.max(x(start), gutter - 4), right = Math.min(x(finish), width) - 1;
    if (row.y === undefined || right < gutter || left > width) continue;
    const top = row.y + row.h, bottom = top + SPACE - 2.5;
    context.beginPath();
    context.moveTo(left + 0.5, top);
    context.lineTo(left + 0.5, bottom);
    context.lineTo(Math.max(right, left) + 0.5, bottom);
    context.lineTo(Math.max(right, left) + 0.5, top);
    context.stroke();
  }
}
function paintEnd(p) {
  const last = timelineRows.filter(row => row.placement === p).at(-1);
  const px = Math.round(x(p.makespan)) + 0.5;
  if (!last || px < gutter || px > width) return;
  context.strokeStyle = theme.ink;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(px, p.headY + (comparing ? HEAD - 4 : 0));
  context.lineTo(px, last.y + last.h + 3);
  context.stroke();
  context.setLineDash([]);
}
// The selection's slice, its neighbours, and the same node in the other placements.
function paintSelection() {
  if (!selected) return;
  const s = selected, p = placementOf(s), related = [];
  if (s.node >= 0) {
    for (const v of inputs[s.node].slice(0, 200)) related.push([p.sliceOfNode[v], s]);
    for (const v of consumers[s.node].slice(0, 200)) related.push([s, p.sliceOfNode[v]]);
    for (const t of transfersOf(p).get(s.node) || []) related.push([s, p.sliceOfTransfer[t]]);
  } else {
    related.push([p.sliceOfNode[p.transfers.producer[s.transfer]], s]);
  }
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.25;
  for (const [from, to] of related) {
    if (from.row === to.row) continue;
    const x0 = x(from.finish), y0 = from.row.y + from.row.h / 2;
    const x1 = x(to.start), y1 = to.row.y + to.row.h / 2;
    const bend = Math.max(Math.abs(x1 - x0) / 2, 18);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
  }
  const same = s.node < 0 ? [s] : placements.map(q => q.sliceOfNode[s.node]);
  for (const twin of same) {
    context.lineWidth = twin === s ? 2.5 : 1.5;
    context.strokeStyle = theme.ink;
    context.strokeRect(x(twin.start) - 1, twin.row.y - 2,
                       Math.max(x(twin.finish) - x(twin.start), 1) + 2, twin.row.h + 4);
  }
  context.lineWidth = 1;
}

// ---- moving the selection -----------------------------------------------------------------------
onSelect.push((s, reveal) => {
  const outside = s && (s.finish < view.from || s.start > view.to);
  if (reveal && outside) {
    const half = (view.to - view.from) / 2, middle = (s.start + s.finish) / 2;
    return setView(middle - half, middle + half);
  }
  drawTimeline();
});
function nearest(row, us) {
  if (!row.slices.length) return null;
  const after = row.slices[Math.min(firstAfter(row.slices, us), row.slices.length - 1)];
  const before = row.slices[Math.max(after.at - 1, 0)];
  return Math.abs(after.start - us) <= Math.abs(before.finish - us) ? after : before;
}
function moveRow(direction) {
  const us = selected ? (selected.start + selected.finish) / 2 : view.from;
  let row = selected ? timelineRows.indexOf(selected.row) : direction > 0 ? -1 : timelineRows.length;
  for (row += direction; row >= 0 && row < timelineRows.length; row += direction) {
    const s = nearest(timelineRows[row], us);
    if (s) return select(s, true);
  }
}
function moveAlong(direction) {
  if (!selected) return moveRow(1);
  select(selected.row.slices[selected.at + direction] || selected, true);
}
function moveCritical() {
  const p = selected ? placementOf(selected) : winner, path = p.critical.nodes;
  const at = selected && selected.node >= 0 ? path.indexOf(selected.node) : -1;
  if (path.length) select(p.sliceOfNode[path[(at + 1) % path.length]], true);
}
function zoomToSelection() {
  if (!selected) return false;
  const length = selected.finish - selected.start;
  // Four times as long on both sides, but less around a long one, which would be all again.
  const margin = Math.min(Math.max(length, span / 1e6) * 4, Math.max(span / 8, length / 4));
  setView(selected.start - margin, selected.finish + margin);
}
function sliceAt(px, py) {
  const row = timelineRows.find(r => py >= r.y - 2 && py <= r.y + r.h + 2);
  if (!row || px < gutter) return null;
  const reach = 3 / (width - gutter) * (view.to - view.from), us = timeAt(px);
  let best = null, distance = reach;
  for (let i = firstAfter(row.slices, us - reach);
       i < row.slices.length && row.slices[i].start <= us + reach; ++i) {
    const s = row.slices[i], gap = Math.max(s.start - us, us - s.finish, 0);
    if (gap < distance || !best && gap <= reach) [best, distance] = [s, gap];
  }
  return best;
}

// ---- events -------------------------------------------------------------------------------------
function startTimeline() {
  draggable(canvas, dx => pan(-dx / (width - gutter - RIGHT)),
    event => select(sliceAt(event.offsetX, event.offsetY), false),
    event => {
      const s = sliceAt(event.offsetX, event.offsetY);
      if (s) showTip(event, sliceName(s), tipLines(s)); else hideTip();
    });
  canvas.addEventListener("dblclick", zoomToSelection);
  canvas.addEventListener("wheel", event => {
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      zoom(Math.exp(event.deltaY * 0.004), timeAt(event.offsetX));
    } else if (event.shiftKey || Math.abs(sideways) > Math.abs(event.deltaY)) {
      pan(sideways / width);
    } else {
      return;  // let the page scroll
    }
    event.preventDefault();
  }, { passive: false });
  const middle = () => selected && selected.start <= view.to && selected.finish >= view.from
    ? (selected.start + selected.finish) / 2 : undefined;
  onKeys(canvas, {
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
    ArrowUp: () => zoom(0.6, middle()), ArrowDown: () => zoom(1 / 0.6, middle()),
    "+": () => zoom(0.6, middle()), "=": () => zoom(0.6, middle()),
    "-": () => zoom(1 / 0.6, middle()), "0": fitView, Home: fitView,
    PageUp: () => pan(-0.9), PageDown: () => pan(0.9),
    "Shift+ArrowLeft": () => moveAlong(-1), "Shift+ArrowRight": () => moveAlong(1),
    "Shift+ArrowUp": () => moveRow(-1), "Shift+ArrowDown": () => moveRow(1),
    c: moveCritical, Enter: zoomToSelection, z: zoomToSelection
  });
  $("colour").addEventListener("change", () => { drawLegend(); drawTimeline(); });
  $("zoom-in").addEventListener("click", () => zoom(0.6));
  $("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
  $("fit").addEventListener("click", fitView);
  if (!comparing) $("colour").querySelector("[value=moved]").remove();
  canvas.setAttribute("aria-label", "Timeline of " + plural(nodeCount, "node") + " on " +
    plural(devices.length, "device"));
  $("timeline-summary").textContent = placements.map(p => (comparing ? p.letter + ": " : "") +
    "makespan " + time(p.makespan) + "; " + shownDevices.map(d => devices[d].name + " runs " +
    plural(p.nodesOn[d], "node") + " and is busy " + percent(busyShare(p, d)))
      .join("; ") + ".").join(" ") + " The table of nodes below has the same figures as text.";
}
