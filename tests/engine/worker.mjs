// One device of measure.mjs: a thread that runs its stages, oldest ready first, on one core.
import path from 'node:path';
import {parentPort, workerData} from 'node:worker_threads';

import {ort} from './support.mjs';
import {kDone, kMode, kProgress, kQuit, kRun, kTensors, modes, now} from './threads.mjs';

const {device, devices, directory, manifest} = workerData;
const {control, stageUs, doneUs, outputs, crossing} = workerData.shared;
const me = devices.indexOf(device);
const feeds = Object.fromEntries(workerData.packed.map(
    ({name, type, dims, values}) => [name, new ort.Tensor(type, values, dims)]));
const open = (file) => ort.InferenceSession.create(
    file, {intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3});

// The first thread also runs all stages alone.
const whole = await open(workerData.whole);
const stages = manifest.stages.map((stage, index) => ({...stage, index}));
const mine = stages.filter((stage) => stage.device === device);
for (const stage of me === 0 ? stages : mine) {
  stage.session = await open(path.join(directory, stage.file));
}

const made = new Set(mine.flatMap((stage) => stage.outputs.map(({name}) => name)));
const outgoing = new Map(), incoming = new Map();
crossing.forEach(({name, type, dims, data}, index) => {
  const slot = {index: kTensors + index, data};
  if (made.has(name)) return outgoing.set(name, slot);
  const tensor = new ort.Tensor(type, new data.constructor(data.length), dims);
  return incoming.set(name, {...slot, tensor});
});

function send(name, tensor, run) {
  const slot = outgoing.get(name);
  if (slot === undefined) return;
  slot.data.set(tensor.data);
  Atomics.store(control, slot.index, run);
  Atomics.add(control, kProgress, 1);
  Atomics.notify(control, kProgress);
}

function receive(name, run, tensors) {
  const slot = incoming.get(name);
  if (slot === undefined || Atomics.load(control, slot.index) !== run) return false;
  slot.tensor.data.set(slot.data);
  tensors[name] = slot.tensor;
  return true;
}

// Memory for outputs is there before the run: fresh memory costs a fault per page.
const memory = new Map(outputs.map(({name, type, dims, array, length}) => (
  [name, () => new ort.Tensor(type, new globalThis[array](length), dims)])));
const fetches = (list) => Object.fromEntries(list.map(({name}) => [name, memory.get(name)()]));
for (const stage of stages) stage.fetches = fetches(stage.outputs);
const wholeFetches = fetches(manifest.outputs);

async function runStage(stage, tensors) {
  const inputs = Object.fromEntries(stage.inputs.map(({name}) => [name, tensors[name]]));
  const begin = now();
  await stage.session.run(inputs, stage.fetches);
  Object.assign(tensors, stage.fetches);
  stageUs[stage.index] = now() - begin;
}

async function runAll() {
  const tensors = {...feeds};
  for (const stage of stages) await runStage(stage, tensors);
}

async function runMine(run) {
  const tensors = {...feeds}, waiting = [...mine];
  while (waiting.length > 0) {
    const seen = Atomics.load(control, kProgress);
    const next = waiting.findIndex((stage) => stage.inputs.every(
        ({name}) => name in tensors || receive(name, run, tensors)));
    if (next < 0) {
      Atomics.wait(control, kProgress, seen);
      continue;
    }
    const [stage] = waiting.splice(next, 1);
    await runStage(stage, tensors);
    for (const {name} of stage.outputs) send(name, tensors[name], run);
  }
}

parentPort.postMessage('ready');
for (let run = 1;; ++run) {
  Atomics.wait(control, kRun, run - 1);
  const mode = Atomics.load(control, kMode);
  if (mode === kQuit) break;
  if (mode === modes.both || (mode === modes.whole && me === 0)) {
    await whole.run(feeds, wholeFetches);
  }
  if (mode === modes.staged && me === 0) await runAll();
  if (mode === modes.placed) await runMine(run);
  doneUs[me] = now();
  Atomics.add(control, kDone, 1);
  Atomics.notify(control, kDone);
}
