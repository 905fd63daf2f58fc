// What the page shows: the data, indexed, and the one selection that all parts share.
// Control characters and those that turn the direction of writing would garble what is around them.
const clean = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
const data = JSON.parse($("data").textContent, (_, value) => typeof value === "string" ? clean(value) : value);
const nodes = data.nodes, devices = data.devices, placements = data.placements;
const nodeCount = nodes.name.length;
const comparing = placements.length > 1;
const throughput = data.objective === "throughput";
const objective = p => throughput ? p.bottleneck : p.makespan;
// Runs of a stream overlap: the next may follow after the interval, which the bottleneck sets.
const objectiveName = throughput ? "interval" : "makespan";
const busyShare = (p, d) => p.busy[d] / (objective(p) || 1);
const letter = i => i < 26 ? String.fromCharCode(65 + i) : String(i + 1);

const inputs = Array.from({ length: nodeCount }, () => []);
const consumers = Array.from({ length: nodeCount }, () => []);
data.edges.source.forEach((source, e) => {
  inputs[data.edges.target[e]].push(source);
  consumers[source].push(data.edges.target[e]);
});

// A row is a device or a lane of a channel; its slices are in time order and do not overlap.
function indexPlacement(p, index) {
  p.index = index;
  p.letter = letter(index);
  p.feasible = p.violations.length === 0;
  p.criticalNode = new Uint8Array(nodeCount);
  p.criticalTransfer = new Uint8Array(p.transfers.start.length);
  for (const v of p.critical.nodes) p.criticalNode[v] = 1;
  for (const t of p.critical.transfers) p.criticalTransfer[t] = 1;
  p.rows = devices.map((device, d) => ({ placement: p, title: device.name, device: d, slices: [] }));
  for (const title of p.transfers.lanes) p.rows.push({ placement: p, title, device: -1, slices: [] });
  p.sliceOfNode = [];
  p.sliceOfTransfer = [];
  p.device.forEach((d, v) => {
    const slice = { node: v, transfer: -1, row: p.rows[d], start: p.start[v], finish: p.finish[v] };
    p.sliceOfNode.push(slice);
    p.rows[d].slices.push(slice);
  });
  p.transfers.lane.forEach((lane, t) => {
    const row = p.rows[devices.length + lane];
    const slice = { node: -1, transfer: t, row, start: p.transfers.start[t],
                    finish: p.transfers.finish[t] };
    p.sliceOfTransfer.push(slice);
    row.slices.push(slice);
  });
  for (const row of p.rows) {
    row.slices.sort((a, b) => a.start - b.start || a.finish - b.finish);
    row.slices.forEach((s, i) => { s.at = i; });
  }
  for (const stage of p.stages) stage.nodes = 0;
  for (const s of p.stage_of) ++p.stages[s].nodes;
  p.nodesOn = devices.map((_, d) => p.rows[d].slices.length);
  p.bytesMoved = p.transfers.bytes.reduce((a, b) => a + b, 0);
  p.moved = [];
  placements[0].device.forEach((d, v) => { if (p.device[v] !== d) p.moved.push(v); });
  p.isMoved = new Uint8Array(nodeCount);
  for (const v of p.moved) p.isMoved[v] = 1;
}
placements.forEach(indexPlacement);
const movedAnywhere = new Uint8Array(nodeCount);
for (const p of placements) for (const v of p.moved) movedAnywhere[v] = 1;
// The fastest that is feasible; if none is, the fastest.
const winner = placements.reduce((best, p) =>
  p.feasible !== best.feasible ? (p.feasible ? p : best) : objective(p) < objective(best) ? p : best);
// Idle devices of large machines would only push the others apart.
const shownDevices = devices.map((_, d) => d)
  .filter(d => devices.length <= 24 || placements.some(p => p.nodesOn[d] > 0));
// Those that use the most memory have a curve each, and no two of them the same hue.
const hungry = devices.map((_, d) => d)
  .sort((a, b) => Math.max(...placements.map(p => p.peak[b])) -
                  Math.max(...placements.map(p => p.peak[a])) || a - b)
  .slice(0, HUES).sort((a, b) => a - b);
const hueRank = [];
[...hungry, ...devices.map((_, d) => d).filter(d => !hungry.includes(d))]
  .forEach((d, rank) => { hueRank[d] = rank; });

const transfersOf = p => {
  if (!p.transfersOf) {
    p.transfersOf = new Map();
    p.transfers.producer.forEach((v, t) => {
      if (!p.transfersOf.has(v)) p.transfersOf.set(v, []);
      p.transfersOf.get(v).push(t);
    });
  }
  return p.transfersOf;
};
const placementOf = s => s.row.placement;
const sliceName = s => s.node >= 0 ? nodes.name[s.node]
  : nodes.name[placementOf(s).transfers.producer[s.transfer]] + " : output " +
    placementOf(s).transfers.output[s.transfer];
const opName = v => nodes.ops[nodes.op[v]];
const isCritical = s => s.node >= 0 ? placementOf(s).criticalNode[s.node]
  : placementOf(s).criticalTransfer[s.transfer];

// ---- reasons ------------------------------------------------------------------------------------
function reasonText(p, v) {
  const reasons = p.reasons;
  if (!reasons) return "";
  const second = reasons.second[v];
  if (second === -1) return "No other device may run it.";
  if (second === -2) return "";
  const there = reasons.there[v], name = devices[second].name;
  const text = "Best other device " + name + ": " + objectiveName + " " + time(there) + " (" +
    change(there, reasons.here) + ")";
  return text + (reasons.fits[v] ? "." : ", out of memory.");
}
// Facts of a slice for tips and for the selection.
function describe(s) {
  const p = placementOf(s), t = p.transfers;
  const when = [["start", time(s.start)], ["finish", time(s.finish)],
                ["takes", time(s.finish - s.start)]];
  if (s.node < 0) {
    const to = t.to[s.transfer];
    return [["transfer of", bytes(t.bytes[s.transfer])],
            ["to", to < 0 ? "every consumer’s device" : devices[to].name],
            ["channel", s.row.title], ...when, ["arrives", time(t.arrival[s.transfer])]];
  }
  const v = s.node, remote = inputs[v].filter(u => p.device[u] !== p.device[v]).length;
  return [["op", opName(v)], ["device", devices[p.device[v]].name], ...when,
          ...(p.stages.length ? [["stage", String(p.stage_of[v])]] : []),
          ["resident", bytes(nodes.resident[v])],
          ["inputs", inputs[v].length + (remote ? " (" + remote + " from other devices)" : "")],
          ["consumers", String(consumers[v].length)]];
}
function tipLines(s) {
  const facts = describe(s), p = placementOf(s);
  const lines = [s.node >= 0 ? facts[0][1] + " on " + facts[1][1]
    : "transfer of " + facts[0][1] + " to " + facts[1][1]];
  lines.push("starts at " + time(s.start) + ", takes " + time(s.finish - s.start) +
             (isCritical(s) ? ", on the critical path" : ""));
  if (s.node >= 0) {
    const reason = reasonText(p, s.node);
    if (reason) lines.push("Here: " + objectiveName + " " + time(p.reasons.here) + ". " + reason);
    if (comparing && movedAnywhere[s.node]) lines.push(whereAll(s.node));
  }
  return lines;
}
const whereAll = v => placements.map(p => p.letter + " " + devices[p.device[v]].name).join(", ");

// ---- selection ----------------------------------------------------------------------------------
let selected = null;  // a slice
const onSelect = [];  // functions (slice or null, whether to bring it into view)
function select(s, reveal) {
  selected = s;
  for (const f of onSelect) f(s, reveal);
}
onSelect.push(s => {
  $("selection").hidden = !s;
  if (!s) return;
  const p = placementOf(s), pairs = describe(s);
  if (comparing) pairs.push(["placement", p.letter + " " + p.label]);
  if (isCritical(s)) pairs.push(["critical path", "yes"]);
  const parts = [element("b", sliceName(s)), element("dl", definitions(pairs))];
  if (s.node >= 0) {
    const reason = reasonText(p, s.node);
    if (reason) parts.push(element("p", reason));
    if (comparing) parts.push(element("p", "Devices: " + whereAll(s.node) + "."));
  }
  $("selected").replaceChildren(...parts);
});
