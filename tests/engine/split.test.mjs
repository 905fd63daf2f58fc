// Real models, split by a placement, run stage by stage by the engine: the outputs are the whole
// model's.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import {mergedModels, models} from './models.mjs';
import {
  deviation, feedsOf, modelPath, readManifest, run, runStages, runWhole, scratch, settingsOf,
  writeTopology,
} from './support.mjs';

// The most that |a - b| / (1 + |b|) may be, in float32. The engine fuses other operators in a part
// than in the whole, which changes roundings.
const kTolerance = 1e-4;

const root = scratch('split');
const topologies = {
  2: writeTopology(path.join(root, 'two.json'), ['cpu:0', 'cpu:1']),
  3: writeTopology(path.join(root, 'three.json'), ['cpu:0', 'cpu:1', 'cpu:2']),
};

function place(model, devices, ...options) {
  const placement = path.join(root, `${model.name}-${devices}-${options.length}.json`);
  const dims = model.dims.flatMap((dim) => ['--dim', dim]);
  run(['place', modelPath(model), '--topology', topologies[devices], ...dims,
       ...settingsOf(model), ...options, '-o', placement]);
  return placement;
}

// Whether or not that is wise: the method `contiguous` may leave devices idle.
function equalParts(model, devices) {
  const original = place(model, devices, '--method', 'contiguous');
  const placement = JSON.parse(readFileSync(original, 'utf8'));
  const count = placement.assignment.length;
  placement.assignment = placement.assignment.map((_, v) => Math.floor(v * devices / count));
  const file = original.replace('.json', '-equal.json');
  writeFileSync(file, JSON.stringify(placement));
  return file;
}

function split(model, placement, stages = 'recorded') {
  const directory = placement.replace('.json', `-${stages}`);
  run(['export', placement, '--model', modelPath(model), '--split', directory, '--stages', stages,
       ...settingsOf(model)]);
  return directory;
}

function checkStages(manifest) {
  for (const [s, stage] of manifest.stages.entries()) {
    assert(stage.after.every((before) => before < s), 'a stage waits for a later one');
    for (const input of stage.inputs) assert(input.stage === undefined || stage.after.includes(input.stage));
  }
}

for (const model of [...models, ...mergedModels]) {
  test(`${model.name} (${model.kind})`, async (t) => {
    const feeds = feedsOf(model);
    const expected = await runWhole(modelPath(model), feeds);
    // Where activations are quantized as they come, what fusions change in the last digit may move
    // a value by a whole step: the engine then differs from itself as much.
    const plain = await runWhole(modelPath(model), feeds, {graphOptimizationLevel: 'disabled'});
    const tolerance = Math.max(kTolerance, 10 * deviation(plain, expected));
    const check = async (directory) => {
      const worst = deviation(await runStages(directory, feeds), expected);
      t.diagnostic(`${path.basename(directory)}: deviation ${worst.toExponential(1)}`);
      assert(worst <= tolerance, `deviation ${worst}`);
    };
    for (const devices of [2, 3]) {
      await t.test(`contiguous on ${devices} devices`, async () => {
        const directory = split(model, place(model, devices, '--method', 'contiguous'));
        checkStages(readManifest(directory));
        await check(directory);
      });
      await t.test(`in ${devices} parts of as many nodes`, async () => {
        const directory = split(model, equalParts(model, devices));
        const manifest = readManifest(directory);
        checkStages(manifest);
        assert.equal(new Set(manifest.stages.map((stage) => stage.device)).size, devices);
        await check(directory);
      });
    }
    await t.test('as the default policy places it, cut for overlap', async () => {
      const directory = split(model, place(model, 2, '--policy', 'default'), 'overlap');
      checkStages(readManifest(directory));
      await check(directory);
    });
    await t.test('in 3 parts of as many nodes, by crossings', async () => {
      const directory = split(model, equalParts(model, 3), 'crossings');
      checkStages(readManifest(directory));
      await check(directory);
    });
  });
}
