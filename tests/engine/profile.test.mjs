// Profiles of models whose nodes have no names: each kernel's time reaches the node that it ran.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import {models} from './models.mjs';
import {feedsOf, modelPath, ort, run, scratch} from './support.mjs';

const root = scratch('profile');

// --- a model without the names of the nodes of its main graph: fields of the protobuf wire format

function readVarint(bytes, at) {
  let value = 0, scale = 1;
  for (;; scale *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
  }
}

function varint(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

// Each field of a message as `change(number, content, field)` wants it; content: null if not bytes.
function mapFields(message, change) {
  const fields = [];
  for (let at = 0; at < message.length;) {
    const begin = at;
    let key, content = null;
    [key, at] = readVarint(message, at);
    if ((key & 7) === 0) [, at] = readVarint(message, at);
    if ((key & 7) === 1) at += 8;
    if ((key & 7) === 5) at += 4;
    if ((key & 7) === 2) {
      let length;
      [length, at] = readVarint(message, at);
      content = message.subarray(at, at + length);
      at += length;
    }
    fields.push(change(Math.floor(key / 8), content, message.subarray(begin, at)));
  }
  return Buffer.concat(fields);
}

const withContent = (number, content) =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

const withoutNames = (model) => mapFields(model, (number, graph, field) => (
  number !== 7 ? field : withContent(7, mapFields(graph, (inner, node, whole) => (
    inner !== 1 ? whole : withContent(1, mapFields(node, (part, _, all) => (
      part === 3 ? Buffer.alloc(0) : all))))))));

// --- a profile in which each kernel takes a time of its own

async function profileOf(model, file) {
  const prefix = path.join(root, `${model.name}-raw`);
  const session = await ort.InferenceSession.create(file, {
    graphOptimizationLevel: 'disabled', enableProfiling: true, profileFilePrefix: prefix,
    intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3,
  });
  await session.run(feedsOf(model));
  session.endProfiling();
  await session.release();
  const written = readdirSync(root).find((name) => name.startsWith(`${model.name}-raw`));
  return JSON.parse(readFileSync(path.join(root, written), 'utf8'));
}

for (const name of ['retinaface', 'ppocr-cls', 'wakeword-embedding']) {
  test(`${name} without names`, async () => {
    const model = models.find((entry) => entry.name === name);
    const file = path.join(root, `${name}.onnx`);
    writeFileSync(file, withoutNames(readFileSync(modelPath(model))));
    const kernels = (await profileOf(model, file))
      .filter((event) => event.cat === 'Node' && event.name.endsWith('_kernel_time'));
    kernels.forEach((event, i) => Object.assign(event, {ts: 1000 * i, dur: 1 + i}));
    const profile = path.join(root, `${name}.json`), graph = path.join(root, `${name}-graph.json`);
    writeFileSync(profile, JSON.stringify(kernels));
    const dims = model.dims.flatMap((dim) => ['--dim', dim]);
    run(['import', file, ...dims, '--profile', `cpu=${profile}`, '-o', graph]);
    const {nodes} = JSON.parse(readFileSync(graph, 'utf8'));
    assert(kernels.length > 60);
    for (const {dur, args} of kernels) {
      const node = nodes[Number(args.node_index)];
      assert.equal(node.op, args.op_name);
      assert.deepEqual(node.cost_us, [dur], `${node.name}, kernel ${args.node_index}`);
    }
  });
}
