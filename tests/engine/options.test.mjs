// Session options that placeto writes, as the engine reads them. The engine takes almost any string
// and logs what it made of it, so the log is what is checked.
//
// With a Vulkan driver that runs on the processor (SwiftShader, which comes with Chromium, as does a
// loader of such drivers) the engine has a second execution provider here, WebGPU, and its log tells
// which nodes went where.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import {models} from './models.mjs';
import {modelPath, run, scratch, writeTopology} from './support.mjs';

const root = scratch('options');
const topology = writeTopology(path.join(root, 'two.json'), ['cpu:0', 'gpu:0']);
const kChromium = '/usr/lib/chromium';
const kSwiftShader = [`${kChromium}/vk_swiftshader_icd.json`].find(existsSync);

// 0=cpu:0, 1=gpu:0, by node name.
function placed(model) {
  const placement = path.join(root, `${model.name}.json`);
  run(['place', modelPath(model), '--topology', topology, '--method', 'contiguous',
       ...model.dims.flatMap((dim) => ['--dim', dim]), '-o', placement]);
  const names = run(['export', placement, '--model', modelPath(model), '--format', 'json']);
  return {placement, deviceOf: JSON.parse(names).nodes};
}

function open(job, icd) {
  const env = {...process.env, VK_ICD_FILENAMES: icd ?? '',
               ...(icd && {LD_LIBRARY_PATH: kChromium})};
  const result = spawnSync(process.execPath, [new URL('session.mjs', import.meta.url).pathname,
                                              JSON.stringify(job)],
                           {encoding: 'utf8', env, maxBuffer: 1 << 28});
  assert.equal(result.status, 0, result.stderr.slice(-2000));
  return result.stderr;
}

// Execution providers by node, from the engine's log. It lists no nodes where one has them all.
function placements(log) {
  const all = log.match(/All nodes placed on \[(\w+)\]/);
  if (all) return {has: () => true, get: () => all[1]};
  const nodes = new Map();
  let provider = '';
  for (const line of log.split('\n')) {
    const heading = line.match(/Node\(s\) placed on \[(\w+)\]/);
    if (heading) provider = heading[1];
    const node = line.match(/VerifyEachNodeIsAssignedToAnEp\]\s+\S+ \((.*)\)/);
    if (node) nodes.set(node[1], provider);
  }
  return nodes;
}

const read = (text) => JSON.parse(text);
const short = (option) => option.replace('session.', '');

function annotations(model, placement) {
  const file = path.join(root, `${model.name}-annotated.onnx`);
  const args = ['--model', modelPath(model), '--format', 'ort-annotations', '-o', file, '--json'];
  const {option, value} = read(run(['export', placement, ...args]));
  return {model: file, settings: {[short(option)]: value}, inputs: model.inputs, rules: 2};
}

function names(model, placement) {
  const args = ['--model', modelPath(model), '--format', 'ort-names', '--json'];
  const {option, value} = read(run(['export', placement, ...args]));
  assert.equal(option, 'session.name_based_layer_assignment');
  assert(value.length <= 8192);
  return {model: modelPath(model), settings: {[short(option)]: value}, inputs: model.inputs,
          rules: value.split(',').length + value.split(';').length - 1};
}

const kOwn = {annotations, names};

for (const name of ['retinaface', 'yolox']) {
  const model = models.find((candidate) => candidate.name === name);
  const {placement, deviceOf} = placed(model);
  let free;  // where the engine puts nodes without options
  for (const [form, make] of Object.entries(kOwn)) {
    test(`${form} of ${name} are accepted`, () => {
      const job = make(model, placement);
      const log = open({...job, providers: ['cpu']});
      assert.match(log, new RegExp(`Parsed ${job.rules} \\S+-based layering rules`));
      assert.match(log, /Layering Rule \d+ \(cpu -> .*\) mapped to EP: CPUExecutionProvider/);
    });

    test(`${form} of ${name} decide where nodes run`, {
      skip: kSwiftShader ? false : 'no SwiftShader here (Debian: chromium)',
    }, () => {
      const job = {...make(model, placement), inputs: undefined, providers: ['webgpu', 'cpu']};
      const log = open(job, kSwiftShader);
      assert.match(log, new RegExp(`Matched ${job.rules} out of ${job.rules} rules`));
      const where = placements(log);
      free ??= placements(open({...job, model: modelPath(model), settings: {}}, kSwiftShader));
      const seen = {cpu: 0, gpu: 0};
      for (const [node, device] of Object.entries(deviceOf)) {
        if (!where.has(node) || !free.has(node)) continue;  // the engine made another node of it
        // What the GPU's provider cannot run is on the processor wherever it was placed.
        const gpu = device === 'gpu:0' && free.get(node) === 'WebGpuExecutionProvider';
        ++seen[gpu ? 'gpu' : 'cpu'];
        assert.equal(where.get(node), gpu ? 'WebGpuExecutionProvider' : 'CPUExecutionProvider', node);
      }
      assert(seen.cpu > 0 && seen.gpu > 0, JSON.stringify(seen));
    });
  }
}

test('an unknown device is refused, which the engine would only log', () => {
  const model = models.find((candidate) => candidate.name === 'retinaface');
  const {placement} = placed(model);
  const args = ['export', placement, '--model', modelPath(model), '--format', 'ort-names'];
  assert.match(run([...args, '--engine-device', 'gpu:0=gqu'], 2), /the engine knows no device 'gqu'/);
  const log = open({model: modelPath(model), inputs: model.inputs, providers: ['cpu'],
                    settings: {name_based_layer_assignment: 'gqu(conv)'}});
  assert.match(log, /could not be mapped to any available Execution Provider/);
});

test('the model is the same but for the annotations', () => {
  const model = models.find((candidate) => candidate.name === 'retinaface');
  const job = annotations(model, placed(model).placement);
  const before = readFileSync(modelPath(model)), after = readFileSync(job.model);
  assert(after.length > before.length && after.length < before.length + 172 * 64);
});
