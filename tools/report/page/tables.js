// The headline and the tables.
const strong = text => element("span", text, "figure");
const chip = p => element("span", p.letter, "chip");
const named = p => comparing ? [chip(p), brief(p.label, 60)] : [brief(p.label, 60)];
const perSecond = us => !(us > 0) ? "–" : (1e6 / us < 0.001 ? (1e6 / us).toExponential(3)
  : (1e6 / us).toFixed(digits(1e6 / us))) + "\u00a0runs per second";
// The bound is of the makespan, which is not what a placement for throughput is about.
const hasBound = !throughput && data.lower_bound > 0;
const recorded = p => p.bound_file ? ", as " + p.bound_file + " records" : "";
const ofBound = us => data.lower_bound > 0 ? (us / data.lower_bound).toFixed(3) + "\u00a0×" : "–";
const limitText = limit => limit === null ? "none" : bytes(limit);
const over = (b, d) => devices[d].limit !== null && b > devices[d].limit;
const memoryCell = (b, d) => over(b, d) ? [bytes(b) + "\u00a0!", "bad"] : bytes(b);
function deviceName(d) {
  const label = element("span", [swatch(hue(d)), devices[d].name], "name");
  label.title = devices[d].name;
  return label;
}
function hideSection(id) {
  $(id).remove();
  document.querySelector("nav a[href=\"#" + id + "\"]").remove();
}

// Where run times come from: 0 estimated, 1 given with the graph, 2 measured on that kind of device.
const fromSource = (p, source) => p.time_source.reduce((sum, s) => sum + (s === source), 0);
const runTime = (p, v) => (p.time_source[v] === 0 ? "≈\u00a0" : "") + time(p.finish[v] - p.start[v]);

// A copy of the model on every device, as a candidate.
const hasReplicas = p => throughput && p.replicas > 0;
function replicasRow(p) {
  const alone = p.candidates.filter(c => c.only >= 0 && c.feasible);
  const memory = devices.map((_, d) => Math.max(0, ...alone.filter(c => c.only === d && c.memory.length)
    .map(c => c.memory[d])));
  return { method: "a copy on every device", makespan: Math.min(...alone.map(c => c.makespan)),
           bottleneck: p.replicas, feasible: true, chosen: false,
           memory: alone.some(c => c.memory.length) ? memory : [], only: -1 };
}
function replicasText(p) {
  if (!hasReplicas(p)) return "";
  const more = p.bottleneck / p.replicas - 1;
  return "A copy of the model on every device has " + time(p.replicas) + ": " +
    percent(Math.abs(more)) + (more < 0 ? " fewer" : " more") + " runs per second. ";
}

// ---- headline -----------------------------------------------------------------------------------
const graphName = () => brief(data.graph || "the graph", 60);
// Devices that would have to hold more than they can, and by how many bytes.
const lackingIn = p => devices.map((device, d) => [d, over(p.peak[d], d) ? p.peak[d] - device.limit : 0])
  .filter(([, lacks]) => lacks > 0).sort((a, b) => b[1] - a[1]);
const lackingText = ([d, lacks]) => brief(devices[d].name, 24) + " lacks " + bytes(lacks);
// What cannot run is not praised for its speed.
function headlineOfBroken(p) {
  const lacking = lackingIn(p);
  return lacking.length
    ? [[graphName() + " does not fit: ", strong(lackingText(lacking[0]))],
       "With enough memory, the " + objectiveName + " would be " + time(objective(p)) + "."]
    : [[graphName() + " may not be placed like this: ", strong(time(objective(p)))], ""];
}
function headlineOfOne(p) {
  if (!p.feasible) return headlineOfBroken(p);
  const by = brief(p.method || "This placement", 40);
  const parts = throughput
    ? [by + " runs a stream of " + graphName() + " at intervals of ", strong(time(p.bottleneck)), ", ",
       strong(perSecond(p.bottleneck))]
    : [by + " runs " + graphName() + " in ", strong(time(p.makespan))];
  if (p.proved) parts.push(", ", strong("proved optimal"), recorded(p));
  else if (hasBound) parts.push(", ", strong(ofBound(p.makespan)), " the lower bound", recorded(p));
  const others = p.candidates.filter(c => c.feasible && !c.chosen)
    .sort((a, b) => objective(a) - objective(b));
  const single = others.find(c => c.method.startsWith("single"));
  const notes = [];
  const against = (who, c) => who + " " + c.method + (throughput ? " has " : " takes ") + time(objective(c)) + " (" +
    change(objective(c), objective(p)) + ").";
  if (others.length) {
    notes.push(against(objective(others[0]) < objective(p) ? "There is better:" : "The runner-up", others[0]));
  }
  if (single && single !== others[0]) {
    notes.push(against("Of one device alone,", { ...single, method: single.method.replace(/^single /, "") }));
  }
  if (p.note) notes.push("Note: " + p.note + ".");
  return [parts, replicasText(p) + notes.join(" ")];
}
function headlineOfMany() {
  const base = placements[0];
  const tied = placements.filter(p => p.feasible === winner.feasible &&
                                      objective(p) === objective(winner));
  const moved = placements.slice(1).map(p => count(p.moved.length) + " of " + count(nodeCount) +
    " nodes are elsewhere in " + p.letter + " than in A.").join(" ");
  if (tied.length === placements.length) {
    return [[throughput ? "All placements have intervals of " : "All placements take ", strong(time(objective(base)))], moved];
  }
  const second = placements.filter(p => p !== winner)
    .reduce((a, b) => objective(b) < objective(a) ? b : a);
  const parts = [winner.letter + " " + brief(winner.label, 40) + " is " + (winner.feasible ? "best" : "shortest") +
    ": ", strong(time(objective(winner)))];
  if (objective(winner) < objective(second)) {
    parts.push(", " + change(objective(winner), objective(second)).replace("−", "") +
               " less than " + second.letter + " " + brief(second.label, 40));
  }
  return [parts, moved];
}
function writeHeadline() {
  const [parts, notes] = comparing ? headlineOfMany() : headlineOfOne(placements[0]);
  $("headline").replaceChildren(...parts);
  $("subject").textContent = graphName() + " (" + plural(nodeCount, "node") + ", " +
    plural(data.edges.source.length, "edge") + ") on " + brief(data.topology || "a topology", 60) + " (" +
    plural(devices.length, "device") + ")";
  const broken = placements.filter(p => !p.feasible).map(p => element("span",
    (comparing ? p.letter + " is not feasible: " : "Not feasible: ") + p.violations.join("; ") + ". ",
    "bad"));
  $("subtitle").replaceChildren(...broken, notes + " Times are what the cost model predicts.");
  const facts = [];
  if (!comparing && throughput) facts.push(["interval of a stream", time(placements[0].bottleneck)]);
  if (!comparing) facts.push([throughput ? "one run alone" : "makespan", time(placements[0].makespan)]);
  if (hasBound) facts.push(["lower bound", time(data.lower_bound)]);
  if (!comparing) {
    const p = placements[0], used = p.nodesOn.filter(n => n > 0).length;
    if (hasBound) facts.push(["makespan / bound", ofBound(p.makespan)]);
    facts.push(["devices used", used + " of " + devices.length],
               ...(p.stages.length ? [["stages", count(p.stages.length)]] : []),
               ["transfers", count(p.transfers.start.length)], ["bytes transferred", bytes(p.bytesMoved)],
               ...(throughput ? [] : [["critical path", plural(p.critical.nodes.length, "node")]]));
  } else {
    facts.push(["placements", count(placements.length)], ["nodes", count(nodeCount)],
               ["moved in any", count(movedAnywhere.reduce((a, b) => a + b, 0))]);
  }
  for (const p of placements) {
    facts.push(["run times" + (comparing ? " in " + p.letter : ""),
      ["estimated", "given with the graph", "measured"].map((word, source) => [fromSource(p, source), word])
        .filter(([nodes]) => nodes > 0).reverse()
        .map(([nodes, word]) => (nodes === nodeCount ? "all" : count(nodes)) + " " + word).join(", ")]);
  }
  $("facts").replaceChildren(...definitions(facts));
}
function writeKey() {
  const most = 16, left = shownDevices.length - most;
  $("key").replaceChildren(...shownDevices.slice(0, most).map(d =>
    element("li", [swatch(hue(d)), brief(devices[d].name, 24)])),
    ...(left > 0 ? [element("li", "and " + count(left) + " more")] : []));
}

// ---- placements, devices, candidates ------------------------------------------------------------
// The device nearest to its limit.
function fullest(memory) {
  if (!memory.length) return "–";
  const share = d => devices[d].limit === null ? 0 : memory[d] / Math.max(devices[d].limit, 1);
  const worst = memory.reduce((best, b, d) =>
    share(d) > share(best) || share(d) === share(best) && b > memory[best] ? d : best, 0);
  return bytes(memory[worst]) + (over(memory[worst], worst) ? "\u00a0!" : "") + " on " + brief(devices[worst].name, 24);
}
function writeComparison() {
  if (!comparing) return hideSection("comparison");
  const slowest = Math.max(...placements.map(objective));
  table($("comparison-table"), "Placements compared", [["placement", true], ["method", true],
    [objectiveName], ["against A"], ...(throughput ? [] : [["/ bound"]]), ["moved nodes"], ["transfers"], ["transferred"],
    ["fullest device", true], ["feasible", true]],
    placements.map(p => ({
      className: p === winner ? "chosen" : p.feasible ? "" : "infeasible",
      cells: [[element("span", named(p)), "name"], [p.method || "–", "name"],
        [element("span", [time(objective(p)), meter(objective(p) / slowest, "", "wide")])],
        p.index ? change(objective(p), objective(placements[0])) : "–", ...(throughput ? [] : [ofBound(p.makespan)]),
        p.index ? count(p.moved.length) : "–", count(p.transfers.start.length), bytes(p.bytesMoved),
        fullest(p.peak), [p.feasible ? "yes" : "no", p.feasible ? "good" : "bad"]]
    })));
}
const MOST_STAGES = 40;
function writeStages() {
  const staged = placements.filter(p => p.stages.length);
  if (!staged.length) return hideSection("stages");
  for (const p of staged) {
    if (comparing) $("stage-tables").append(element("h3", named(p)));
    const label = "Stages" + (comparing ? " of " + p.letter : "");
    const rows = p.stage_order.slice(0, MOST_STAGES).map(s => [s, p.stages[s]]).map(([s, stage]) => ({
      cells: [String(s), [deviceName(stage.device), "name"], count(stage.nodes), time(stage.start),
        time(stage.finish - stage.start)] }));
    $("stage-tables").append(scrollable(table(element("table"), label,
      [["stage"], ["device", true], ["nodes"], ["starts"], ["takes"]], rows), label));
    if (p.stages.length > MOST_STAGES) {
      $("stage-tables").append(element("p", "and " + plural(p.stages.length - MOST_STAGES, "more stage"), "hint"));
    }
  }
}
function writeDevices() {
  for (const p of placements) {
    if (comparing) $("device-tables").append(element("h3", named(p)));
    const shown = shownDevices.slice(0, 256);
    const rows = shown.map(d => {
      const share = busyShare(p, d);
      return { cells: [[deviceName(d), "name"], [devices[d].kind, "name"], count(p.nodesOn[d]),
        [element("span", [percent(share), meter(share, hue(d))])],
        memoryCell(p.peak[d], d), limitText(devices[d].limit)] };
    });
    const label = "Devices" + (comparing ? " of " + p.letter : "");
    $("device-tables").append(scrollable(table(element("table"), label, [["device", true],
      ["kind", true], ["nodes"], ["busy of the " + objectiveName], ["peak memory"], ["limit"]], rows), label));
    if (shown.length < devices.length) {
      $("device-tables").append(element("p", plural(devices.length - shown.length, "device") +
        " not shown; those that run nothing are left out on machines this large.", "hint"));
    }
  }
}
// Rows of equal devices that follow each other as one, "single gpu:0 to gpu:7", with what each would
// hold alone.
function folded(rows) {
  const alike = (a, b) => a.only >= 0 && b.only === a.only + 1 && !a.chosen && !b.chosen &&
    a.feasible === b.feasible && a.makespan === b.makespan && a.bottleneck === b.bottleneck &&
    devices[a.only].kind === devices[b.only].kind && devices[a.only].limit === devices[b.only].limit;
  const runs = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run && alike(run.at(-1), row)) run.push(row); else runs.push([row]);
  }
  return runs.map(run => run.length === 1 ? run[0]
    : { ...run[0], method: run[0].method + " to " + devices[run.at(-1).only].name,
        memory: run[0].memory.map((_, d) => Math.max(...run.map(row => row.memory[d] || 0))) });
}
function writeCandidates() {
  const with_rows = placements.filter(p => p.candidates.length);
  if (!with_rows.length) return hideSection("candidates");
  for (const p of with_rows) {
    if (comparing) $("candidate-tables").append(element("h3", named(p)));
    const wide = devices.length <= 6 && p.candidates.some(c => c.memory.length);
    const memoryColumns = wide ? devices.map(d => [brief(d.name, 16)]) : [["fullest device", true]];
    const rows = [...folded(p.candidates), ...(hasReplicas(p) ? [replicasRow(p)] : [])]
      .sort((a, b) => b.feasible - a.feasible || objective(a) - objective(b));
    const slowest = Math.max(...rows.map(objective));
    const label = "Candidates" + (comparing ? " of " + p.letter : "");
    const cells = c => [[element("span", [c.method, c.chosen ? element("span", "  ✓ chosen", "good") : ""]), "name"],
      [element("span", [time(objective(c)), meter(objective(c) / slowest, c.chosen ? theme.accent : "")])],
      !throughput ? ofBound(c.makespan) : c.makespan ? time(c.makespan) : "–",
      ...(wide ? devices.map((_, d) => c.memory.length
        ? memoryCell(c.memory[d], d) : "–") : [fullest(c.memory)]),
      [c.feasible ? "yes" : "no", c.feasible ? "good" : "bad"]];
    $("candidate-tables").append(scrollable(table(element("table"), label, [["method", true],
      [objectiveName], [throughput ? "one run alone" : "/ bound"], ...memoryColumns, ["feasible", true]],
      rows.map(c => ({ cells: cells(c),
                       className: c.chosen ? "chosen" : c.feasible ? "" : "infeasible" }))), label));
  }
}

// ---- what to change -----------------------------------------------------------------------------
const MOST_CHANGES = 8, CHEAP = 0.005;
// Nodes whose second-best device would be better, or hardly worse.
function cheapMoves(p) {
  if (!p.reasons) return [];
  const here = p.reasons.here || 1;
  return nodes.name.map((_, v) => v)
    .filter(v => p.reasons.second[v] >= 0 && p.reasons.fits[v] && regret(p, v) <= CHEAP * here)
    .sort((a, b) => regret(p, a) - regret(p, b) || p.finish[b] - p.start[b] - p.finish[a] + p.start[a]);
}
function writeChanges() {
  for (const p of placements) {
    const box = $("change-tables"), of = comparing ? " of " + p.letter : "";
    if (comparing) box.append(element("h3", named(p)));
    const add = (label, hint, columns, rows) => {
      if (!rows.length) return;
      box.append(element("p", hint, "hint"),
        scrollable(table(element("table"), label + of, columns, rows.slice(0, MOST_CHANGES)), label + of));
    };
    add("What does not fit", "Nothing below counts before this does: move nodes off " +
      "these devices, or give them more memory.",
      [["device", true], ["peak memory"], ["limit"], ["lacks"]],
      lackingIn(p).map(([d, lacks]) => ({ cells: [[deviceName(d), "name"], bytes(p.peak[d]),
        limitText(devices[d].limit), [bytes(lacks), "bad"]] })));
    const parts = throughput ? p.advice.busiest : p.advice.waits;
    const alone = throughput && parts.length && parts[0].us > 0.999 * p.bottleneck;
    add(throughput ? "What a stream waits for" : "What the run waits for",
      !throughput ? "The critical path: shortening anything else shortens nothing."
        : alone ? "The busiest part, " + parts[0].what + ", sets the interval: a run has to leave it before the next " +
          "can enter. Less work on it, or a faster one, shortens the interval."
        : "No part is busy all the interval: what one device receives, or devices that send to each other " +
          "in a circle, count together. Sending less between devices shortens it.",
      [[throughput ? "part" : "waits for", true], [throughput ? "busy in a run" : "time"],
       [throughput ? "of the interval" : "share"]],
      parts.map(w => {
        const share = w.us / (objective(p) || 1);
        return { cells: [[w.what, "name"], time(w.us),
          [element("span", [percent(share), meter(share, theme.accent)])]] };
      }));
    add("What a faster part would buy", "The same placement, one part of the machine twice as fast.",
      [["twice as fast", true], [objectiveName], ["change"]],
      p.advice.faster.map(f => ({ cells: [[f.what, "name"], time(f.objective),
        change(f.objective, objective(p))] })));
    add("What memory costs", "Another placement, found without a search, if no device had a memory limit.",
      [["memory", true], [objectiveName], ["change"]],
      p.advice.without_limits > 0 ? [{ cells: [["unlimited", "name"], time(p.advice.without_limits),
        change(p.advice.without_limits, objective(p))] }] : []);
    const moves = cheapMoves(p);
    const gaining = moves.filter(v => p.reasons.there[v] < p.reasons.here).length;
    const simpler = p.candidates.some(c => c.feasible && objective(c) < objective(p));
    add("Moves that gain, or cost next to nothing", plural(moves.length, "node") +
      " could go elsewhere for at most 0.5%: pin them where they suit you better." +
      (gaining > 0 ? " By themselves " + count(gaining) + " would make it better, " + (simpler
        ? "but the tolerance keeps what is simpler."
        : "which a larger budget finds out: only small placements are polished without one.") : ""),
      [["node", true], ["from", true], ["to", true], ["change"]],
      moves.map(v => ({ cells: [[nodeButton(p, v), "name"], deviceName(p.device[v]),
        deviceName(p.reasons.second[v]), change(p.reasons.there[v], p.reasons.here)] })));
  }
}

// ---- moved nodes --------------------------------------------------------------------------------
const MOST_MOVED = 100;
function nodeButton(p, v) {
  const button = element("button", nodes.name[v]);
  button.type = "button";
  button.addEventListener("click", event => {
    event.stopPropagation();
    select(p.sliceOfNode[v], true);
  });
  return button;
}
function writeMoved() {
  if (!comparing) return hideSection("moved");
  const base = placements[0], took = (p, v) => p.finish[v] - p.start[v];
  for (const p of placements.slice(1)) {
    const box = $("moved-tables"), label = "Moved between A and " + p.letter;
    const heading = element("h3", [...named(base), " → ", ...named(p), ": ",
      p.moved.length ? plural(p.moved.length, "node") + " moved" : "no node moved"]);
    box.append(heading);
    if (!p.moved.length) continue;
    const ways = new Map();
    for (const v of p.moved) {
      const way = devices[base.device[v]].name + " → " + devices[p.device[v]].name;
      ways.set(way, (ways.get(way) || 0) + 1);
    }
    const sorted = [...ways].sort((a, b) => b[1] - a[1]);
    box.append(element("p", sorted.slice(0, 12).map(([way, n]) => way + ": " + count(n)).join(",  ") +
      (sorted.length > 12 ? ", and " + (sorted.length - 12) + " other ways" : ""), "hint"));
    const largest = [...p.moved].sort((a, b) =>
      Math.max(took(p, b), took(base, b)) - Math.max(took(p, a), took(base, a)) || a - b);
    const rows = largest.slice(0, MOST_MOVED).map(v => ({ cells: [[nodeButton(p, v), "name"],
      [opName(v), "name"], deviceName(base.device[v]), deviceName(p.device[v]),
      time(took(base, v)), time(took(p, v)), time(base.start[v]), time(p.start[v])] }));
    box.append(scrollable(table(element("table"), label, [["node", true], ["op", true],
      ["in A", true], ["in " + p.letter, true], ["takes in A"], ["takes in " + p.letter],
      ["starts in A"], ["starts in " + p.letter]], rows), label));
    if (largest.length > MOST_MOVED) {
      box.append(element("p", "The " + MOST_MOVED + " that run longest; the timeline and the graph " +
        "show all.", "hint"));
    }
  }
}

// ---- nodes --------------------------------------------------------------------------------------
const PAGE = 20;
const nodeTable = { placement: placements[0], key: "start", down: false, page: 0, filter: "", rows: [] };
const regret = (p, v) => p.reasons && p.reasons.second[v] >= 0 ? p.reasons.there[v] - p.reasons.here
  : -Infinity;
const nodeColumns = [
  ["name", "node", true, (p, v) => nodes.name[v]], ["op", "op", true, (p, v) => opName(v)],
  ["device", "device", true, (p, v) => p.device[v]], ["start", "start", false, (p, v) => p.start[v]],
  ["takes", "takes", false, (p, v) => p.finish[v] - p.start[v]],
  ["memory", "resident", false, (p, v) => nodes.resident[v]],
  ["critical", "critical", true, (p, v) => p.criticalNode[v]],
  ["second", "second best", true, (p, v) => p.reasons ? p.reasons.second[v] : 0],
  ["regret", "cost of moving it there", false, regret]];
function reasonCells(p, v) {
  const second = p.reasons ? p.reasons.second[v] : -2;
  if (second === -2) return [["–", "faint"], ["–", "faint"]];
  if (second === -1) return [["no other may", "faint"], ["–", "faint"]];
  return [deviceName(second), p.reasons.fits[v] ? change(p.reasons.there[v], p.reasons.here)
    : ["out of memory", "bad"]];
}
function sortNodes() {
  const { placement: p, key, down, filter } = nodeTable, wanted = filter.toLowerCase();
  const value = nodeColumns.find(c => c[0] === key)[3], sign = down ? -1 : 1;
  const all = nodes.name.map((_, v) => v).filter(v => !wanted ||
    [nodes.name[v], opName(v), devices[p.device[v]].name].some(s => s.toLowerCase().includes(wanted)));
  const keyed = all.map(v => [value(p, v), v]);
  keyed.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
  nodeTable.rows = keyed.map(k => k[1]);
  nodeTable.page = 0;
  writeNodes();
}
function writeNodes() {
  const { placement: p, page, rows } = nodeTable;
  const hasReasons = placements.some(q => q.reasons);
  const columns = nodeColumns.slice(0, hasReasons ? 9 : 7);
  const titles = columns.map(([key, title, isText]) => {
    const button = element("button", title);
    button.type = "button";
    button.addEventListener("click", () => {
      nodeTable.down = nodeTable.key === key ? !nodeTable.down : !isText;
      nodeTable.key = key;
      sortNodes();
      [...$("nodes-table").querySelectorAll("th button")].find(b => b.textContent === title).focus();
    });
    return [button, isText];
  });
  const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
  table($("nodes-table"), "Nodes", titles, shown.map(v => ({
    className: selected && selected.node === v ? "current" : "",
    cells: [[nodeButton(p, v), "name"], [opName(v), "name"], deviceName(p.device[v]), time(p.start[v]),
      runTime(p, v), bytes(nodes.resident[v]), p.criticalNode[v] ? "yes" : "",
      ...(hasReasons ? reasonCells(p, v) : [])] })));
  [...$("nodes-table").querySelectorAll("thead th")].forEach((cell, i) => {
    if (columns[i][0] === nodeTable.key) {
      cell.setAttribute("aria-sort", nodeTable.down ? "descending" : "ascending");
    }
  });
  [...$("nodes-table").tBodies[0].rows].forEach((row, i) =>
    row.addEventListener("click", () => select(p.sliceOfNode[shown[i]], true)));
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  $("nodes-state").textContent = rows.length ? count(page * PAGE + 1) + "–" +
    count(Math.min((page + 1) * PAGE, rows.length)) + " of " + count(rows.length) : "none";
  $("nodes-back").disabled = page === 0;
  $("nodes-on").disabled = page + 1 >= pages;
}
function startNodes() {
  for (const p of placements) $("nodes-placement").append(new Option(p.letter + " " + brief(p.label, 40), p.index));
  $("nodes-of").hidden = !comparing;
  $("nodes-placement").addEventListener("change", event => {
    nodeTable.placement = placements[event.target.value];
    sortNodes();
  });
  $("nodes-filter").addEventListener("input", event => {
    nodeTable.filter = event.target.value;
    sortNodes();
  });
  $("nodes-back").addEventListener("click", () => { --nodeTable.page; writeNodes(); });
  $("nodes-on").addEventListener("click", () => { ++nodeTable.page; writeNodes(); });
  onSelect.push(writeNodes);
  const asked = placements.filter(p => p.reasons && p.reasons.asked < nodeCount);
  $("nodes-note").textContent = asked.map(p => (comparing ? "In " + p.letter + ", s" : "S") +
    "econd-best devices were computed for " + count(p.reasons.asked) + " of " + count(nodeCount) +
    " nodes: those on the critical path, then those that run longest.").join(" ") +
    (placements.some(p => fromSource(p, 0) > 0) ? " ≈: estimated from operations, bytes and the device's rates; other run times came with the graph." : "");
  sortNodes();
}
