// Real models, placed with chains and tiny operators merged and without: merging costs little where
// it costs anything. ../bench/results/grouping.md has what it changes.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {models} from './models.mjs';
import {modelPath, run, scratch} from './support.mjs';

const kWorst = 1.05, kMean = 1.01;  // makespan with merging over makespan without

const root = scratch('grouping-test');
const graphs = models.map((model) => {
  const graph = path.join(root, `${model.name}.json`);
  const dims = model.dims.flatMap((dim) => ['--dim', dim]);
  run(['import', modelPath(model), ...dims, '-o', graph]);
  return graph;
});

for (const name of ['cpu+gpu', '4xk80']) {
  const topology = fileURLToPath(new URL(`../../models/topologies/${name}.json`, import.meta.url));
  const makespan = (graph, ...options) => JSON.parse(run(
      ['place', graph, '--topology', topology, '--budget-evals', '300', '--json', ...options]))
                                                  .makespan_us;
  test(`merging chains and tiny operators on ${name}`, (t) => {
    let logarithms = 0;
    for (const graph of graphs) {
      const ratio = makespan(graph) / makespan(graph, '--grouping', 'none');
      t.diagnostic(`${path.basename(graph, '.json')}: ${ratio.toFixed(4)}`);
      assert(ratio <= kWorst, `${graph}: ${ratio}`);
      logarithms += Math.log(ratio);
    }
    const mean = Math.exp(logarithms / graphs.length);
    t.diagnostic(`geometric mean ${mean.toFixed(4)}`);
    assert(mean <= kMean, `geometric mean ${mean}`);
  });
}
