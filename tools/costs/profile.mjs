// Measures a model with ONNX Runtime on one thread and writes its profile, for
// `placeto import --profile` and `placeto calibrate`.
//
//   node profile.mjs MODEL.onnx OUT.json [--dim NAME=N]... [--runs 20] [--level
//   disabled|basic|extended|all]
//
// Needs the npm package onnxruntime-node where Node looks for modules, or in the folder that
// PLACETO_NODE_MODULES names. Inputs are small pseudo-random numbers; whole-number inputs are 0
// (indices) or 1. `--level disabled` keeps every node of the model visible, `all` is how models are
// served. The first run in a profile is a warm-up; readers drop it.
import {copyFileSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';

const modules = process.env.PLACETO_NODE_MODULES;
const require = createRequire(modules ? path.join(path.resolve(modules), 'x.js') : import.meta.url);

export function parseArguments(argv) {
  const options = {dims: new Map(), runs: 20, level: 'all', paths: []};
  for (let i = 0; i < argv.length; ++i) {
    const value = () => {
      if (i + 1 === argv.length) throw new Error(`${argv[i]} needs a value`);
      return argv[++i];
    };
    if (argv[i] === '--dim') {
      const text = value();
      const at = text.lastIndexOf('=');
      options.dims.set(text.slice(0, at), Number(text.slice(at + 1)));
    } else if (argv[i] === '--runs') {
      options.runs = Number(value());
    } else if (argv[i] === '--level') {
      options.level = value();
    } else {
      options.paths.push(argv[i]);
    }
  }
  if (options.paths.length !== 2) throw new Error('expected MODEL.onnx and OUT.json');
  return options;
}

// The shape of an input with numbers for its free dimensions, as `placeto import --dim` sets them.
function shapeOf(input, dims) {
  return input.shape.map((dim, axis) => {
    if (typeof dim === 'number' && dim >= 0) return dim;
    for (const name of [`${input.name}[${axis}]`, dim, '*']) {
      if (dims.has(name)) return dims.get(name);
    }
    const name = dim || `${input.name}[${axis}]`;
    throw new Error(`add, for instance, --dim '${name}=1' for input ${input.name}`);
  });
}

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

export function makeInput(ort, input, dims) {
  const shape = shapeOf(input, dims);
  const count = shape.reduce((a, b) => a * b, 1);
  const data = new arrays[input.type](count);
  let state = 12345;
  for (let i = 0; i < count; ++i) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    if (input.type.startsWith('float'))
      data[i] = (state / 2 ** 32 - 0.5) / 4;
    else if (input.type === 'bool')
      data[i] = 1;
    else
      data[i] = data instanceof BigInt64Array || data instanceof BigUint64Array ? 1n : 1;
  }
  return new ort.Tensor(input.type, data, shape);
}

async function main() {
  const {paths: [model, out], dims, runs, level} = parseArguments(process.argv.slice(2));
  const ort = require('onnxruntime-node');
  const folder = mkdtempSync(path.join(tmpdir(), 'placeto-profile-'));
  try {
    const session = await ort.InferenceSession.create(model, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: level,
      enableProfiling: true,
      profileFilePrefix: path.join(folder, 'profile'),
      logSeverityLevel: 3,
    });
    const feeds = {};
    for (const input of session.inputMetadata) feeds[input.name] = makeInput(ort, input, dims);
    for (let i = 0; i <= runs; ++i) await session.run(feeds);
    session.endProfiling();
    copyFileSync(path.join(folder, readdirSync(folder)[0]), out);
    await session.release();
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

main().catch((error) => {
  console.error(`profile.mjs: ${error.message}`);
  process.exit(1);
});
