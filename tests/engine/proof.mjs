// Benchmark, no test: what the cost model predicts of placed models against what the C++ runner
// measures, and what `placeto tune` hands out. Prints the tables of ../bench/results/runner.md.
//
//   PLACETO=build/release/bin/placeto ENGINE_SCRATCH=/tmp/proof \
//     node tests/engine/proof.mjs MACHINE.json MODELS.json [unlike | small]
//
// MACHINE.json: what detect --workers 2 and measure wrote. MODELS.json: a list of {"name", "kind",
// "file", "dims": ["n=1"], "inputs": ["sr=16000"]}. unlike: the second worker is held to half of the
// time. small: each worker has 0.7 of the memory that the model needs on one. Each model is placed
// in five ways at least, each is run beside the whole model, and all numbers are quotients with that.
import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const placeto = process.env.PLACETO, scratch = process.env.ENGINE_SCRATCH;
const [machineFile, modelsFile, mode] = process.argv.slice(2);
const unlike = mode === 'unlike', small = mode === 'small';
const kSmallShare = 0.7;
const hold = unlike ? ['--hold', 'cpu:1=0.5'] : [];
const kRuns = '15';

function run(args) {
  const result = spawnSync(placeto, args, {encoding: 'utf8', maxBuffer: 1 << 28, timeout: 300e3});
  if (result.status !== 0) throw new Error(`placeto ${args[0]}: ${result.stderr.trim()}`);
  return result.stdout;
}
const json = (args) => JSON.parse(run([...args, '--json']));
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const write = (file, value) => writeFileSync(file, JSON.stringify(value));
const flags = (name, values) => values.flatMap((value) => [name, value]);

// The machine as the cost model sees it.
function machineFor(folder) {
  const machine = read(machineFile);
  if (unlike) machine.devices[1].slowdown = (machine.devices[1].slowdown ?? 1) / 0.5;
  const file = path.join(folder, 'machine.json');
  write(file, machine);
  return file;
}

// Not enough for the whole model on either worker.
function shrink(topology, graphFile, folder) {
  const single = path.join(folder, 'single.json');
  run(['place', graphFile, '-t', topology, '-m', 'single', '-o', single]);
  const {peak_memory_bytes: bytes} = json(['simulate', graphFile, '-t', topology, '-p', single]);
  const machine = read(topology);
  for (const device of machine.devices) {
    device.memory_bytes = Math.floor(kSmallShare * Math.max(...bytes));
  }
  write(topology, machine);
}

// The graph of the optimised model with run times of a profile, scaled to a run without one.
function graphFor(model, optimized, folder, common) {
  const whole = json(['run', optimized, '--runs', kRuns, '--mode', 'latency', ...common]);
  const profiled = json(['run', optimized, '--runs', kRuns, '--mode', 'latency', '--write-profiles',
    path.join(folder, 'profile'), ...common]);
  const file = path.join(folder, 'graph.json');
  const attempts = [model.dims, model.dims.filter((dim) => /[[*]/.test(dim)), []];
  for (const dims of attempts) {
    const args = ['import', optimized, '--profile', `cpu=${profiled.profiles[0]}`, '-o', file,
      ...flags('--dim', dims)];
    if (spawnSync(placeto, args).status === 0) break;
    if (dims.length === 0) run(args);  // for its message
  }
  const graph = read(file);
  const total = graph.nodes.reduce((sum, node) => sum + Math.max(0, node.cost_us?.[0] ?? 0), 0);
  for (const node of graph.nodes) {
    if (node.cost_us?.[0] > 0) node.cost_us[0] *= whole.whole_us.median / total;
  }
  write(file, graph);
  return {file, graph, wholeUs: whole.whole_us.median};
}

// Half of the time on each worker, cut at one place in the model's order.
function inTwo(graph, folder) {
  const cost = graph.nodes.map((node) => Math.max(0, node.cost_us?.[0] ?? 0));
  const share = unlike ? 2 / 3 : 1 / 2;
  const total = cost.reduce((a, b) => a + b, 0);
  let sum = 0;
  const assignment = cost.map((us) => (sum += us) <= share * total ? 0 : 1);
  const file = path.join(folder, 'two.json');
  write(file, {format_version: 1, devices: ['cpu:0', 'cpu:1'], assignment});
  return file;
}

function placements(graphFile, graph, topology, folder) {
  const place = (name, args) => {
    const file = path.join(folder, `${name}.json`);
    run(['place', graphFile, '-t', topology, '-o', file, ...args]);
    return {name, file};
  };
  const wanted = [
    ['contiguous', ['-m', 'contiguous']],
    ['chosen', ['--budget-evals', '1000']],
    ['heft', ['-m', 'heft']],
    ['random', ['-m', 'random', '--seed', '1']],
  ];
  if (!small) {
    return [place('one device', ['-m', 'single']), {name: 'two parts', file: inTwo(graph, folder)},
      ...wanted.map(([name, args]) => place(name, args))];
  }
  return wanted.flatMap(([name, args]) => {  // those that find a placement that fits
    try {
      return [place(name, args)];
    } catch (error) {
      console.error(`  ${name}: ${error.message}`);
      return [];
    }
  });
}

function measure(model, optimized, placement, graphFile, topology, wholeUs, folder, common) {
  const simulated = json(['simulate', graphFile, '-t', topology, '-p', placement.file]);
  const stages = path.join(folder, placement.name.replace(/ /g, '_'));
  rmSync(stages, {recursive: true, force: true});
  const split = json(['export', placement.file, '--model', optimized, '--graph', graphFile,
    '-t', topology, '--split', stages]);
  const ran = json(['run', stages, '--model', optimized, '--runs', kRuns, '--mode', 'latency',
    '--check', ...hold, ...common]);
  return {
    name: placement.name, stages: split.stages.length, predicted: simulated.makespan_us / wholeUs,
    measured: ran.over_whole.median, deviation: ran.deviation,
  };
}

// Kendall's tau of the pairs whose measurements are at least 5% apart.
function tau(rows) {
  let sum = 0, pairs = 0;
  rows.forEach((a, i) => rows.slice(i + 1).forEach((b) => {
    if (Math.abs(a.measured - b.measured) < 0.05 * Math.min(a.measured, b.measured)) return;
    ++pairs;
    sum += Math.sign(a.predicted - b.predicted) * Math.sign(a.measured - b.measured);
  }));
  return {sum, pairs};
}

function proveModel(model) {
  const folder = path.join(scratch, model.name + (mode ? `-${mode}` : ''));
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  const inputs = flags('--input', model.inputs ?? []);
  const common = [...flags('--dim', model.dims), ...inputs];
  const tuned = path.join(folder, 'tuned');
  const tuning = json(['tune', model.file, '-t', machineFile, '-o', tuned, '--runs', '9',
    ...(small ? ['--rounds', '1'] : []), ...hold, ...common]);
  const optimized = path.join(tuned, 'model.onnx');
  const topology = machineFor(folder);
  const {file, graph, wholeUs} = graphFor(model, optimized, folder, common);
  if (small) shrink(topology, file, folder);
  const rows = placements(file, graph, topology, folder).map((placement) => (
    measure(model, optimized, placement, file, topology, wholeUs, folder, common)));
  return {model, nodes: graph.nodes.length, wholeUs, rows, tuning};
}

const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
};
const percent = (value) => `${(100 * value).toFixed(0)}%`;
const number = (value) => value === undefined ? '-' : value.toFixed(2);

const results = [];
for (const model of read(modelsFile)) {
  try {
    results.push(proveModel(model));
    write(path.join(scratch, `${mode ?? 'equal'}.json`), results);
    console.error(`${model.name}: ${results.at(-1).tuning.why}`);
  } catch (error) {
    console.error(`${model.name}: left out: ${error.message}`);
  }
}

console.log('| model | nodes | one thread | placement | stages | predicted | measured | error |');
console.log('|---|---|---|---|---|---|---|---|');
const all = [], orders = {sum: 0, pairs: 0};
for (const {model, nodes, wholeUs, rows} of results) {
  const order = tau(rows);
  orders.sum += order.sum;
  orders.pairs += order.pairs;
  rows.forEach((row, i) => {
    const error = row.predicted / row.measured - 1;
    all.push(Math.abs(error));
    console.log(`| ${i === 0 ? `${model.name} | ${nodes} | ${(wholeUs / 1000).toFixed(2)} ms` :
      ' | | '} | ${row.name} | ${row.stages} | ${number(row.predicted)} | ` +
      `${number(row.measured)} | ${percent(error)} |`);
  });
}
console.log(`\n${all.length} placements: error median ${percent(quantile(all, 0.5))}, 90% within ` +
  `${percent(quantile(all, 0.9))}; Kendall's tau ${number(orders.sum / orders.pairs)} over ` +
  `${orders.pairs} pairs at least 5% apart\n`);

if (small) process.exit(0);
console.log('| model | handed out | measured | one device | best division | threads | engine |');
console.log('|---|---|---|---|---|---|---|');
for (const {model, tuning} of results) {
  const least = (wanted) => Math.min(...tuning.contenders.filter(wanted).map((c) => c.over_whole));
  const cell = (wanted) => {
    const value = least(wanted);
    return Number.isFinite(value) ? number(value) : '-';
  };
  const chosen = tuning.contenders[tuning.chosen];
  console.log(`| ${model.name} | ${chosen.name} | ${number(chosen.over_whole)} | ` +
    `${cell((c) => c.name === 'one device')} | ${cell((c) => c.stages > 1)} | ` +
    `${cell((c) => c.name.includes('threads'))} | ${cell((c) => c.name.startsWith('the engine'))} |`);
}
const finalists = results.flatMap(({tuning}) => tuning.contenders.filter((c) => c.predicted_us > 0));
const errors = finalists.map((c) => Math.abs(c.predicted_over_whole / c.over_whole - 1));
if (errors.length > 0) {
  const order = results.map(({tuning}) => tau(tuning.contenders.filter((c) => c.predicted_us > 0)
      .map((c) => ({predicted: c.predicted_over_whole, measured: c.over_whole}))))
      .reduce((a, b) => ({sum: a.sum + b.sum, pairs: a.pairs + b.pairs}), {sum: 0, pairs: 0});
  console.log(`\n${errors.length} finalists, with what their stages taught: error median ` +
    `${percent(quantile(errors, 0.5))}, 90% within ${percent(quantile(errors, 0.9))}; tau ` +
    `${order.pairs > 0 ? number(order.sum / order.pairs) : '-'} over ${order.pairs} pairs`);
}
