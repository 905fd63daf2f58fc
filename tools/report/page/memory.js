// Memory over time: one chart per placement, a line per device, on the timeline's axis.
const CHART_H = 190;
const charts = [];
const highest = Math.max(1, ...placements.flatMap(p => p.peak));
// A limit far above all that is used would flatten the lines.
const limitsShown = hungry.filter(d => devices[d].limit !== null && devices[d].limit <= 4 * highest);
const topOfChart = 1.08 * Math.max(highest, ...limitsShown.map(d => devices[d].limit));

// The largest value in each of `bins` equal parts of the view, per device: cost follows pixels, and
// no peak is lost.
function memoryColumns(p, bins) {
  const step = (view.to - view.from) / bins;
  const times = Array.from({ length: bins + 1 }, (_, i) => view.from + i * step);
  const lines = hungry.map(d => {
    const { at, bytes: used } = p.memory[d];
    let i = 0, high = at.length;
    while (i + 1 < high) {
      const middle = (i + high) >> 1;
      if (at[middle] <= view.from) i = middle; else high = middle;
    }
    return times.map(t => {
      let most = used[i];
      while (i + 1 < at.length && at[i + 1] < t + step) most = Math.max(most, used[++i]);
      return most;
    });
  });
  return [times, ...lines];
}
const axisBytes = b => b === 0 ? "0" : bytes(b).replace(/\.0+(?=\D)/, "");
const powersOfTwo = [...Array(54).keys()].map(i => 2 ** i);
const decimalSteps = [...Array(24).keys()].flatMap(i => [1, 2, 5].map(m => m * 10 ** (i - 6)));
const axisTime = (u, splits) => splits.map((us, i) =>
  us === null ? "" : axisLabel(us, i + 1 < splits.length ? splits[i + 1] - us : us - splits[i - 1] || 1));
function drawLimits(u) {
  const c = u.ctx, ratio = window.devicePixelRatio || 1;
  c.save();
  c.setLineDash([6 * ratio, 4 * ratio]);
  c.lineWidth = 1.5 * ratio;
  for (const d of limitsShown) {
    const y = Math.round(u.valToPos(devices[d].limit, "y", true)) + 0.5;
    c.strokeStyle = hue(d);
    c.beginPath();
    c.moveTo(u.bbox.left, y);
    c.lineTo(u.bbox.left + u.bbox.width, y);
    c.stroke();
  }
  c.restore();
}
function memoryOptions(p, chartWidth) {
  const axis = { stroke: () => theme.soft, font: "11px " + FONT,
                 grid: { stroke: () => theme.grid, width: 1 },
                 ticks: { stroke: () => theme.grid, width: 1 } };
  return {
    width: chartWidth, height: CHART_H, padding: [10, RIGHT, 0, 0],
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 },
              bind: { dblclick: () => fitView }, sync: { key: "memory" } },
    legend: { live: true },
    scales: { x: { time: false, range: () => [view.from, view.to] }, y: { range: () => [0, topOfChart] } },
    axes: [{ ...axis, values: axisTime, incrs: decimalSteps, space: 90, size: 30 },
           { ...axis, values: (u, splits) => splits.map(axisBytes), incrs: powersOfTwo, size: () => gutter }],
    series: [{ label: "time", value: (u, us) => us === null ? "–" : time(us) },
      ...hungry.map(d => ({
        label: brief(devices[d].name, 24), stroke: () => hue(d), width: 1.5, points: { show: false },
        fill: () => hue(d) + (hungry.length > 4 ? "00" : "22"), paths: uPlot.paths.stepped({ align: 1 }),
        value: (u, b) => b === null ? "peak " + bytes(p.peak[d]) : bytes(b)
      }))],
    hooks: {
      draw: [drawLimits],
      setSelect: [u => {
        if (u.select.width < 4) return;
        setView(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }]
    }
  };
}
function startMemory() {
  for (const p of placements) {
    const box = element("div");
    if (comparing) box.append(element("h3", named(p)));
    $("memory-charts").append(box);
    const chart = new uPlot(memoryOptions(p, Math.max(box.clientWidth, 280)), memoryColumns(p, 400), box);
    chart.root.setAttribute("role", "img");
    chart.root.setAttribute("aria-label", "Memory over time" + (comparing ? " of " + p.letter : "") +
      ". Peaks: " + hungry.map(d => devices[d].name + " " + bytes(p.peak[d]) +
        (devices[d].limit === null ? "" : " of " + bytes(devices[d].limit))).join(", "));
    charts.push({ p, box, chart });
  }
  const notes = [];
  if (limitsShown.length) notes.push("Dashed: memory limits.");
  const hidden = hungry.filter(d => devices[d].limit !== null && !limitsShown.includes(d));
  if (hidden.length) notes.push("Limits far above the peaks are not drawn: " + hidden.map(d =>
    brief(devices[d].name, 24) + " " + bytes(devices[d].limit)).join(", ") + ".");
  if (hungry.length < devices.length) {
    notes.push("Shown: the " + hungry.length + " devices with the highest peaks.");
  }
  $("memory-note").textContent = notes.join(" ");
  onView.push(drawMemory);
}
const drawMemory = painter(() => {
  for (const { p, chart } of charts) chart.setData(memoryColumns(p, Math.min(chart.width, 700)));
});
function layoutMemory() {
  for (const { box, chart } of charts) chart.setSize({ width: Math.max(box.clientWidth, 280), height: CHART_H });
  drawMemory();
}
