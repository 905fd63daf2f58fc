// One device of measure.mjs: a thread that runs its stages, oldest ready first, each on one core.
//
// Messages in: {go, inputs} start a run; {tensors} from the other device. Tensors
// travel as {name: [type, dims, typed array]}, copied once and then handed over.
import path from 'node:path';
import {parentPort, workerData} from 'node:worker_threads';

import {ort} from './support.mjs';

const {directory, manifest, device, ports} = workerData;
const mine = manifest.stages.map((stage, index) => ({...stage, index}))
                 .filter((stage) => stage.device === device);
const readers = new Map();  // of each tensor: the other devices that read it
for (const stage of manifest.stages) {
  for (const {name, stage: maker} of stage.inputs) {
    if (maker === undefined || manifest.stages[maker].device !== device) continue;
    if (stage.device !== device) readers.set(name, (readers.get(name) ?? new Set()).add(stage.device));
  }
}

for (const stage of mine) {
  stage.session = await ort.InferenceSession.create(path.join(directory, stage.file), {
    graphOptimizationLevel: workerData.level, intraOpNumThreads: 1, interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
}

const toTensors = (packed) => Object.fromEntries(
    Object.entries(packed).map(([name, [type, dims, data]]) => [name, new ort.Tensor(type, data, dims)]));

let tensors = {}, waiting = [], running = false, stageUs = {};
let early = {};  // tensors of a run whose start has not been heard of here
let active = false;

function deliver(outputs) {
  for (const [name, tensor] of Object.entries(outputs)) {
    for (const reader of readers.get(name) ?? []) {
      const data = tensor.data.slice();
      ports[reader].postMessage({tensors: {[name]: [tensor.type, tensor.dims, data]}}, [data.buffer]);
    }
  }
}

async function work() {
  if (running) return;
  running = true;
  for (;;) {
    const next = waiting.findIndex((stage) => stage.inputs.every(({name}) => name in tensors));
    if (next < 0) break;
    const [stage] = waiting.splice(next, 1);
    const inputs = Object.fromEntries(stage.inputs.map(({name}) => [name, tensors[name]]));
    const begin = process.hrtime.bigint();
    const outputs = await stage.session.run(inputs);
    stageUs[stage.index] = Number(process.hrtime.bigint() - begin) / 1000;
    Object.assign(tensors, outputs);
    deliver(outputs);
    if (waiting.length === 0) {
      active = false;
      parentPort.postMessage({done: process.hrtime.bigint(), stageUs});
    }
  }
  running = false;
}

function receive(message) {
  if (message.go) {
    tensors = {...toTensors(message.inputs), ...early};
    early = {};
    waiting = [...mine];
    stageUs = {};
    active = mine.length > 0;
    if (!active) parentPort.postMessage({done: process.hrtime.bigint(), stageUs});
  } else {
    Object.assign(active ? tensors : early, toTensors(message.tensors));
  }
  work();
}

parentPort.on('message', receive);
for (const port of Object.values(ports)) port.on('message', receive);
parentPort.postMessage({ready: true});
