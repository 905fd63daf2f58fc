// Benchmark: a placement on two devices, run by two threads of one core each, against what the cost
// model predicts. Run it on an otherwise idle machine with two cores:
//
//   run.sh PLACETO 1 SCRATCH .../measure.mjs [MODEL [RUNS]]
//
// Run times of operators come from the engine's own profile, the link from messages between the
// threads. Operators keep their names and stay unfused, so that both speak of the same ones.
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {MessageChannel, Worker} from 'node:worker_threads';

import {models} from './models.mjs';
import {feedsOf, modelPath, ort, readManifest, run, scratch, writeTopology} from './support.mjs';

const model = models.find(({name}) => name === (process.argv[2] ?? 'retinaface'));
const runs = Number(process.argv[3] ?? 30);
const level = 'disabled';
const root = scratch('measure');
const feeds = feedsOf(model);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const now = () => Number(process.hrtime.bigint()) / 1000;

// Medians of the run times in us by node, and of the whole run.
async function profile() {
  const options = {graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1};
  const profiled = await ort.InferenceSession.create(modelPath(model), {
    ...options, enableProfiling: true, profileFilePrefix: path.join(root, 'profile'),
  });
  for (let i = 0; i <= runs; ++i) await profiled.run(feeds);
  profiled.endProfiling();
  const file = readdirSync(root).find((name) => name.startsWith('profile'));
  const nodes = new Map();
  for (const event of JSON.parse(readFileSync(path.join(root, file), 'utf8'))) {
    const node = event.cat === 'Node' && event.name.match(/^(.*)_kernel_time$/);
    if (node) nodes.set(node[1], [...(nodes.get(node[1]) ?? []), event.dur]);
  }
  const plain = await ort.InferenceSession.create(modelPath(model), options);
  const whole = [];
  for (let i = 0; i <= runs; ++i) {
    const begin = now();
    await plain.run(feeds);
    if (i > 0) whole.push(now() - begin);
  }
  for (const [name, durations] of nodes) nodes.set(name, median(durations.slice(1)));
  return {nodes, whole: median(whole)};
}

// us to send an array of that many bytes to another thread.
async function sendUs(bytes) {
  const {port1, port2} = new MessageChannel();
  const source = `const {workerData, parentPort} = require('node:worker_threads');
    workerData.port.on('message', ({at}) => workerData.port.postMessage(
        Number(process.hrtime.bigint()) / 1000 - at));`;
  const worker = new Worker(source, {eval: true, workerData: {port: port2}, transferList: [port2]});
  const times = [];
  const tensor = new Uint8Array(bytes);
  for (let i = 0; i < 60; ++i) {
    const answer = new Promise((resolve) => port1.once('message', resolve));
    const at = now();
    const data = tensor.slice();
    port1.postMessage({at, data}, [data.buffer]);
    times.push(await answer);
  }
  await worker.terminate();
  return median(times.slice(10));
}

// Threads with their ports to each other, ready to run.
async function start(directory, manifest, devices) {
  const {port1, port2} = new MessageChannel();
  const ends = [port1, port2];
  return Promise.all(devices.map((device, i) => new Promise((resolve, reject) => {
    const ports = {[devices[1 - i]]: ends[i]};
    const worker = new Worker(new URL('worker.mjs', import.meta.url), {
      workerData: {directory, manifest, device, ports, level}, transferList: [ends[i]],
    });
    worker.on('error', reject);
    worker.once('message', () => resolve(worker));
  })));
}

async function runOnce(workers) {
  const inputs = Object.fromEntries(
      Object.entries(feeds).map(([name, tensor]) => [name, [tensor.type, tensor.dims, tensor.data]]));
  const answers = workers.map((worker) => new Promise((resolve) => worker.once('message', resolve)));
  const begin = now();
  for (const worker of workers) worker.postMessage({go: true, inputs});
  const results = await Promise.all(answers);
  return {
    us: Math.max(...results.map(({done}) => Number(done) / 1000)) - begin,
    stageUs: Object.assign({}, ...results.map(({stageUs}) => stageUs)),
  };
}

// The stages as a graph, with their measured times: what the cost model says of the same schedule
// once the overhead of running a session per stage is known.
function stageGraph(manifest, graph, stageUs, tensorBytes) {
  const stages = manifest.stages.map((stage, s) => ({
    name: stage.file, op: 'Stage', cost_us: [stageUs[s]],
    outputs: stage.outputs.map(({name}) => tensorBytes.get(name) ?? 0),
  }));
  const edges = [];
  manifest.stages.forEach((stage, target) => {
    for (const {name, stage: source} of stage.inputs) {
      if (source === undefined) continue;
      const output = manifest.stages[source].outputs.findIndex((tensor) => tensor.name === name);
      edges.push({source, output, target});
    }
  });
  return {format_version: 1, name: graph, nodes: stages, edges};
}

const {nodes, whole} = await profile();
const small = await sendUs(64), large = await sendUs(1 << 22);
const bandwidth = (1 << 22) / Math.max(1, large - small);

const dims = model.dims.flatMap((dim) => ['--dim', dim]);
const graphFile = path.join(root, 'graph.json');
run(['import', modelPath(model), ...dims, '-o', graphFile]);
const graph = JSON.parse(readFileSync(graphFile, 'utf8'));
let known = 0, sum = 0;
for (const node of graph.nodes) {
  const us = nodes.get(node.name);
  known += us === undefined ? 0 : 1;
  sum += us ?? 0;
  node.cost_us = [us ?? 0];
}
delete graph.kinds;
writeFileSync(graphFile, JSON.stringify(graph));
const gap = Math.max(0, (whole - sum) / graph.nodes.length);
const devices = ['cpu:0', 'cpu:1'];
const topology = writeTopology(path.join(root, 'topology.json'), devices, {
  transfer: 'unicast', op_gap_us: gap,
  default_link: {bandwidth_bytes_per_us: bandwidth, latency_us: small, gap_us: 0},
});
const placement = path.join(root, 'placement.json');
const placed = JSON.parse(run(['place', graphFile, '--topology', topology, '--budget-evals', '1000',
                               '-o', placement, '--json']));
const single = Math.min(...placed.candidates.filter(({method}) => method.startsWith('single'))
                            .map(({makespan_us: us}) => us));
const directory = path.join(root, 'stages');
run(['export', placement, '--model', modelPath(model), '--split', directory, '--stages', 'overlap']);
const manifest = readManifest(directory);

const workers = await start(directory, manifest, devices);
const times = [], stageTimes = manifest.stages.map(() => []);
for (let i = 0; i <= runs; ++i) {
  const {us, stageUs} = await runOnce(workers);
  if (i === 0) continue;
  times.push(us);
  Object.entries(stageUs).forEach(([s, value]) => stageTimes[s].push(value));
}
for (const worker of workers) await worker.terminate();

const bytes = new Map();
const edgesOut = JSON.parse(readFileSync(graphFile, 'utf8'));
for (const stage of manifest.stages) {
  for (const {name, type, shape} of stage.outputs) {
    const size = {float32: 4, int64: 8, int32: 4, bool: 1, uint8: 1, int8: 1}[type] ?? 4;
    if (shape?.every(Number.isFinite)) bytes.set(name, shape.reduce((a, b) => a * b, size));
  }
}
const stageFile = path.join(root, 'stage-graph.json');
writeFileSync(stageFile, JSON.stringify(
    stageGraph(manifest, edgesOut.name, stageTimes.map(median), bytes)));
const stagePlacement = path.join(root, 'stage-placement.json');
writeFileSync(stagePlacement, JSON.stringify({
  format_version: 1, graph: edgesOut.name, topology: '2 devices', devices,
  assignment: manifest.stages.map(({device}) => devices.indexOf(device)),
}));
const stageTopology = writeTopology(path.join(root, 'stage-topology.json'), devices, {
  transfer: 'unicast',
  default_link: {bandwidth_bytes_per_us: bandwidth, latency_us: small, gap_us: 0},
});
const simulated = JSON.parse(run(['simulate', stageFile, '--topology', stageTopology, '--placement',
                                  stagePlacement, '--json']));

const ms = (us) => `${(us / 1000).toFixed(2)} ms`;
console.log(`machine            ${os.cpus()[0].model}, ${os.cpus().length} cores, load ${
    os.loadavg()[0].toFixed(1)}, node ${process.version}`);
console.log(`model              ${model.name}, ${graph.nodes.length} nodes, ${known} with a time`);
console.log(`link               ${small.toFixed(0)} us + bytes / ${bandwidth.toFixed(0)} bytes per us`);
console.log(`gap                ${gap.toFixed(2)} us per operator`);
console.log(`placed by          ${placed.method}, ${manifest.stages.length} stages`);
console.log(`one device         measured ${ms(whole)}, predicted ${ms(single)}`);
console.log(`two devices        measured ${ms(median(times))} (least ${ms(Math.min(...times))}), ` +
            `predicted ${ms(placed.makespan_us)}, from stage times ${ms(simulated.makespan_us)}`);
