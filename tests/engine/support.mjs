// What the tests share: where things are, running placeto, and running models whole and in stages.
import {spawnSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

export const placeto = process.env.PLACETO;         // the program under test
export const modules = process.env.ENGINE_MODULES;  // node_modules with the engine and the models
export const ort = createRequire(path.join(modules, 'x.js'))('onnxruntime-node');

export const modelPath = (model) => path.join(modules, model.path);

export function scratch(name) {
  const root = path.join(process.env.ENGINE_SCRATCH, name);
  rmSync(root, {recursive: true, force: true});
  mkdirSync(root, {recursive: true});
  return root;
}

// What import and export are both told of a model.
export const settingsOf = (model) => (model.set ?? []).flatMap((value) => ['--set', value]);

// Standard output of `placeto ARGUMENTS`; throws unless it ends with that status.
export function run(args, status = 0) {
  const result = spawnSync(placeto, args, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (result.status !== status) {
    throw new Error(`placeto ${args.join(' ')} ended with ${result.status}: ${result.stderr}`);
  }
  return status === 0 ? result.stdout : result.stderr;
}

// Equal processors that exchange tensors through memory.
export function writeTopology(file, devices, options = {}) {
  const topology = {
    format_version: 1, name: `${devices.length} devices`, op_gap_us: 0,
    devices: devices.map((name) => (
      {name, kind: name.split(':')[0], peak_flops: 2e10, memory_bandwidth: 1e10})),
    default_link: {bandwidth_bytes_per_us: 5000, gap_us: 5}, ...options,
  };
  writeFileSync(file, JSON.stringify(topology));
  return file;
}

// Numbers in [0, scale) that are the same on every run (a linear congruential generator).
function fill(data, scale, seed) {
  let state = BigInt(seed);
  for (let i = 0; i < data.length; ++i) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    data[i] = Number(state >> 40n) / 2 ** 24 * scale;
  }
  return data;
}

// Tensors for a model of models.mjs; a whole number is the value itself.
export function feedsOf(model) {
  const feeds = {};
  Object.entries(model.inputs).forEach(([name, [type, shape, scale]], index) => {
    const count = shape.reduce((a, b) => a * b, 1);
    const data = type === 'bool' ? new Uint8Array(count).fill(scale) :
                 type === 'int64' ? BigInt64Array.from({length: count}, () => BigInt(scale)) :
                                    fill(new Float32Array(count), scale ?? 1, index + 1);
    feeds[name] = new ort.Tensor(type, data, shape);
  });
  return feeds;
}

const kQuiet = {intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3};

export async function runWhole(file, feeds, options = {}) {
  const session = await ort.InferenceSession.create(file, {...kQuiet, ...options});
  const outputs = await session.run(feeds);
  await session.release();
  return outputs;
}

export const readManifest = (directory) =>
  JSON.parse(readFileSync(path.join(directory, 'manifest.json'), 'utf8'));

// Runs the stages of a split model as its manifest says: nothing else is known of the model.
export async function runStages(directory, feeds, options = {}) {
  const manifest = readManifest(directory);
  const tensors = {};
  for (const {name} of manifest.inputs) tensors[name] = feeds[name];
  for (const s of manifest.order) {
    const stage = manifest.stages[s];
    const inputs = Object.fromEntries(stage.inputs.map(({name}) => [name, tensors[name]]));
    Object.assign(tensors, await runWhole(path.join(directory, stage.file), inputs, options));
  }
  return Object.fromEntries(manifest.outputs.map(({name}) => [name, tensors[name]]));
}

// The largest of |a - b| / (1 + |b|) over all outputs; throws where they differ in anything else.
export function deviation(actual, expected) {
  let worst = 0;
  const names = Object.keys(expected).sort();
  if (names.join() !== Object.keys(actual).sort().join()) {
    throw new Error(`outputs ${Object.keys(actual)}, expected ${names}`);
  }
  for (const name of names) {
    const a = actual[name], b = expected[name];
    if (a.type !== b.type || a.dims.join() !== b.dims.join()) {
      throw new Error(`${name} is ${a.type} [${a.dims}], expected ${b.type} [${b.dims}]`);
    }
    for (let i = 0; i < b.data.length; ++i) {
      const x = Number(a.data[i]), y = Number(b.data[i]);
      const difference = Math.abs(x - y) / (1 + Math.abs(y));
      if (!(difference <= worst)) worst = Number.isNaN(difference) ? Infinity : difference;
    }
  }
  return worst;
}
