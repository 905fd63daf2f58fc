// Benchmark, no test: a placement on two devices, run by two threads of one core each, against what
// the cost model predicts. It wants both cores for itself: an idle machine, or `chrt -f 20` before
//
//   run.sh PLACETO 1 SCRATCH .../measure.mjs [MODEL [RUNS]]
//
// Run times of operators come from the engine's own profile of the model as it is served (all
// optimizations, one thread), by `placeto import --profile`; the link from tensors sent between two
// threads. Four ways to run are measured in turns, so that whatever else the machine does meets all
// of them: whole on one thread; in its stages on one thread, which shows what cutting costs; whole
// on both threads at once, which shows how much the cores hinder each other; and as placed. The
// least time is the closest to an idle machine. All that is done with the link as it is and with
// links that are charged, more and more, with what cutting costs: that makes for fewer stages.
import {spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {models} from './models.mjs';
import {
  deviation, feedsOf, modelPath, modules, ort, readManifest, run, runWhole, scratch, writeTopology,
} from './support.mjs';
import {kQuit, measureLink, modes, runThreads, share, startThread} from './threads.mjs';

const model = models.find(({name}) => name === (process.argv[2] ?? 'yolox'));
const runs = Number(process.argv[3] ?? 50);
const root = scratch('measure');
const feeds = feedsOf(model);
const dims = model.dims.flatMap((dim) => ['--dim', dim]);
const devices = ['cpu:0', 'cpu:1'];
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// The model as the engine's own optimizer leaves it on this processor: operators that it fuses are
// one node, so no cut goes between them, and changes of layout are nodes of their own.
async function optimized() {
  const file = path.join(root, 'model.onnx');
  const session = await ort.InferenceSession.create(modelPath(model), {
    graphOptimizationLevel: 'all', optimizedModelFilePath: file, logSeverityLevel: 3,
  });
  await session.release();
  return file;
}

// The graph with the engine's run times.
function measuredGraph(source) {
  const profile = path.join(root, 'profile.json');
  const script = fileURLToPath(new URL('../../tools/costs/profile.mjs', import.meta.url));
  const made = spawnSync('node', [script, source, profile, ...dims, '--runs', String(runs)],
                         {env: {...process.env, PLACETO_NODE_MODULES: modules}, encoding: 'utf8'});
  if (made.status !== 0) throw new Error(made.stderr);
  const file = path.join(root, 'graph.json');
  run(['import', source, ...dims, '--profile', `cpu=${profile}`, '-o', file]);
  return file;
}

// Runs all stages here, one after another: the tensors between them, and whether they are right.
async function runHere(directory, manifest) {
  const tensors = {...feeds};
  for (const stage of manifest.stages) {
    const inputs = Object.fromEntries(stage.inputs.map(({name}) => [name, tensors[name]]));
    Object.assign(tensors, await runWhole(path.join(directory, stage.file), inputs));
  }
  const outputs = Object.fromEntries(manifest.outputs.map(({name}) => [name, tensors[name]]));
  const worst = deviation(outputs, await runWhole(modelPath(model), feeds));
  if (!(worst <= 1e-4)) throw new Error(`the stages' outputs deviate by ${worst}`);
  return tensors;
}

// What the cost model says of the stages with their measured times: the same schedule, with the
// engine's cost of running them one by one.
function simulateStages(manifest, tensors, stageUs, link) {
  const nodes = manifest.stages.map((stage, s) => ({
    name: stage.file, op: 'Stage', cost_us: [stageUs[s]],
    outputs: stage.outputs.map(({name}) => tensors[name].data.byteLength),
  }));
  const edges = manifest.stages.flatMap((stage, target) => stage.inputs
      .filter(({stage: source}) => source !== undefined)
      .map(({name, stage: source}) => ({
        source, target,
        output: manifest.stages[source].outputs.findIndex((tensor) => tensor.name === name),
      })));
  const write = (name, content) => {
    const file = path.join(root, name);
    writeFileSync(file, JSON.stringify({format_version: 1, ...content}));
    return file;
  };
  const graph = write('stages.graph.json', {name: 'stages', nodes, edges});
  const topology = writeTopology(path.join(root, 'stages.topology.json'), devices, link);
  const placement = write('stages.placement.json', {
    graph: 'stages', topology: '2 devices', devices,
    assignment: manifest.stages.map(({device}) => devices.indexOf(device)),
  });
  return JSON.parse(run(['simulate', graph, '--topology', topology, '--placement', placement,
                         '--json'])).makespan_us;
}

// Places over that link, cuts, and runs in all four ways.
async function measure(source, graph, link, name) {
  const topology = writeTopology(path.join(root, `${name}.topology.json`), devices, link);
  const placement = path.join(root, `${name}.placement.json`);
  const placed = JSON.parse(run(['place', graph, '--topology', topology, '--budget-evals', '1000',
                                 '-o', placement, '--json']));
  const directory = path.join(root, name);
  run(['export', placement, '--model', source, '--split', directory, '--stages', 'overlap']);
  const manifest = readManifest(directory);
  const tensors = await runHere(directory, manifest);
  const shared = share(manifest, tensors);
  const workers = await Promise.all(devices.map((device) => startThread({
    device, devices, directory, manifest, shared, feeds, whole: source,
  })));
  const times = Object.fromEntries(Object.keys(modes).map((mode) => [mode, []]));
  const stageTimes = [];
  for (let i = 0; i <= runs; ++i) {
    for (const mode of Object.keys(modes)) {
      const us = runThreads(shared, modes[mode]);
      if (i === 0) continue;
      times[mode].push(us);
      if (mode === 'staged') stageTimes.push(Array.from(shared.stageUs));
    }
  }
  runThreads(shared, kQuit);
  await Promise.all(workers.map((worker) => worker.terminate()));
  const least = Object.fromEntries(
      Object.entries(times).map(([mode, us]) => [mode, Math.min(...us)]));
  const stageUs = manifest.stages.map((_, s) => Math.min(...stageTimes.map((us) => us[s])));
  const moved = manifest.stages.flatMap((stage) => stage.inputs.filter(
      ({stage: maker}) => maker !== undefined && manifest.stages[maker].device !== stage.device));
  return {
    placed, times, least, transfers: moved.length, stages: manifest.stages.length,
    single: Math.min(...placed.candidates.filter(({method}) => method.startsWith('single'))
                         .map(({makespan_us: us}) => us)),
    bytes: moved.reduce((sum, {name: tensor}) => sum + tensors[tensor].data.byteLength, 0),
    fromStages: simulateStages(manifest, tensors, stageUs, linkOf(latency)),
  };
}

const ms = (us) => (us / 1000).toFixed(2);
const error = (predicted, measured) => `${((predicted / measured - 1) * 100).toFixed(0)}%`;
const printRow = (cells) => console.log(
    cells.map((cell, i) => String(cell).padStart(i === 0 ? 7 : 11)).join(''));

function print(charge, {placed, times, least, single, fromStages, stages, transfers}) {
  printRow([
    charge.toFixed(0), stages, transfers, ms(least.whole), ms(least.staged), ms(least.both),
    ms(least.placed), ms(median(times.placed)), ms(placed.makespan_us),
    error(placed.makespan_us, least.placed), error(fromStages, least.placed),
    (least.whole / least.placed).toFixed(2), (single / placed.makespan_us).toFixed(2),
  ]);
}

const source = await optimized();
const graph = measuredGraph(source);
const {latency, bandwidth} = await measureLink();
const linkOf = (us) => ({
  transfer: 'unicast',
  default_link: {bandwidth_bytes_per_us: bandwidth, latency_us: us, gap_us: 0},
});
console.log(`machine  ${os.cpus()[0].model}, ${os.cpus().length} cores, load ${
    os.loadavg()[0].toFixed(1)}, Node.js ${process.version}, ${runs} runs`);
const {nodes} = JSON.parse(readFileSync(graph, 'utf8'));
console.log(`model    ${model.name}, ${nodes.length} nodes`);
console.log(`link     ${latency.toFixed(0)} us + bytes / ${bandwidth.toFixed(0)} bytes per us`);
console.log('us and ms; least of the runs unless it says median\n');
printRow(['charge', 'stages', 'transfers', 'whole', 'staged', 'both', 'two', 'median', 'predicted',
          'error', 'of stages', 'speed-up', 'predicted']);
// The cost model knows nothing of what the engine loses at a cut (memory that is no longer warm,
// fusions, a call), so the link is charged for it: nothing at first, then once, twice, ... what
// cutting cost per transfer.
const free = await measure(source, graph, linkOf(latency), 'charge-0');
const cutting = Math.max(1, free.least.staged - free.least.whole) / Math.max(1, free.transfers);
print(0, free);
console.log(`        one thread predicted ${ms(free.single)} ms: ${
    error(free.single, free.least.whole)}`);
for (const times of [1, 2, 4, 8]) {
  const charge = times * cutting;
  print(charge, await measure(source, graph, linkOf(latency + charge), `charge-${times}`));
}
