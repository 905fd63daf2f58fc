// Two threads as two devices, for measure.mjs: what they share, how runs are started and timed.
//
// Tensors between devices are copied into memory that both threads see and out of it again (the
// engine refuses to read such memory itself), and each copy is announced by a number that the other
// thread waits for. There are no messages: a message costs several turns of both event loops.
import {Worker} from 'node:worker_threads';

export const modes = {whole: 0, staged: 1, both: 2, placed: 3};
export const kQuit = -1;

// Numbers in the shared memory: the run, its mode, a count of announcements, threads that are done,
// and for each tensor the last run that made it.
export const kRun = 0, kMode = 1, kProgress = 2, kDone = 3, kTensors = 4;

export const now = () => Number(process.hrtime.bigint()) / 1000;

// Memory for the tensors that cross between devices, as large as those given, and what is known of
// all of them.
export function share(manifest, tensors) {
  const elsewhere = (maker, device) => (
    maker !== undefined && manifest.stages[maker].device !== device);
  const names = [...new Set(manifest.stages.flatMap((stage) => stage.inputs
      .filter(({stage: maker}) => elsewhere(maker, stage.device)).map(({name}) => name)))];
  return {
    control: new Int32Array(new SharedArrayBuffer(4 * (kTensors + names.length))),
    stageUs: new Float64Array(new SharedArrayBuffer(8 * manifest.stages.length)),
    doneUs: new Float64Array(new SharedArrayBuffer(16)),
    outputs: Object.entries(tensors).map(([name, {type, dims, data}]) => (
      {name, type, dims, array: data.constructor.name, length: data.length})),
    crossing: names.map((name) => {
      const {type, dims, data} = tensors[name];
      const copy = new data.constructor(new SharedArrayBuffer(data.byteLength));
      return {name, type, dims, data: copy};
    }),
  };
}

// A thread with its sessions open, waiting for runs.
export function startThread({feeds, ...data}) {
  const packed = Object.entries(feeds).map(([name, {type, dims, data: values}]) => (
    {name, type, dims, values}));
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.mjs', import.meta.url),
                              {workerData: {...data, packed}});
    worker.on('error', reject);
    worker.once('message', () => resolve(worker));
  });
}

// us from the start of a run to the end of its last thread. Blocks this thread.
export function runThreads({control, doneUs}, mode) {
  Atomics.store(control, kDone, 0);
  Atomics.store(control, kMode, mode);
  const begin = now();
  Atomics.add(control, kRun, 1);
  Atomics.notify(control, kRun);
  if (mode === kQuit) return 0;
  for (let done = 0; done < doneUs.length; done = Atomics.load(control, kDone)) {
    Atomics.wait(control, kDone, done);
  }
  return Math.max(...doneUs) - begin;
}

// One way of a tensor between two threads, copies and waking included: {latency in us, bandwidth in
// bytes per us}, medians.
export async function measureLink(repetitions = 200) {
  const large = 1 << 22;
  const flags = new Int32Array(new SharedArrayBuffer(8));  // a tensor is there, it was taken
  const times = new Float64Array(new SharedArrayBuffer(8));
  const memory = new Uint8Array(new SharedArrayBuffer(large));
  const source = `const {flags, times, memory} = require('node:worker_threads').workerData;
    const own = new Uint8Array(memory.length);
    for (let i = 1; i <= ${2 * repetitions}; ++i) {
      Atomics.wait(flags, 0, i - 1);
      const bytes = i <= ${repetitions} ? 64 : memory.length;
      own.set(memory.subarray(0, bytes));
      times[0] = Number(process.hrtime.bigint()) / 1000;
      Atomics.store(flags, 1, i);
      Atomics.notify(flags, 1);
    }`;
  const worker = new Worker(source, {eval: true, workerData: {flags, times, memory}});
  await new Promise((resolve) => worker.once('online', resolve));
  const own = new Uint8Array(large);
  const samples = [[], []];
  for (let i = 1; i <= 2 * repetitions; ++i) {
    const begin = now();
    memory.set(i <= repetitions ? own.subarray(0, 64) : own);
    Atomics.store(flags, 0, i);
    Atomics.notify(flags, 0);
    Atomics.wait(flags, 1, i - 1);
    samples[i <= repetitions ? 0 : 1].push(times[0] - begin);
  }
  await worker.terminate();
  const [latency, whole] = samples.map((list) => (
    list.slice(10).sort((a, b) => a - b)[Math.floor((list.length - 10) / 2)]));
  return {latency, bandwidth: large / Math.max(1, whole - latency)};
}
