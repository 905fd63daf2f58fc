// Measures what merging chains and tiny operators changes on real models and generated networks:
//
//   run.sh PLACETO 1 SCRATCH .../grouping.mjs PLACETO_GROUPING POLICY TOPOLOGY...
//
// prints a table for each topology. Run times are estimates from the topology's peak rates.
import {spawnSync} from 'node:child_process';
import path from 'node:path';

import {models} from './models.mjs';
import {modelPath, run, scratch} from './support.mjs';

const [program, policy, ...topologies] = process.argv.slice(2);
const root = scratch('grouping');
const graphs = models.map((model) => {
  const graph = path.join(root, `${model.name}.json`);
  const dims = model.dims.flatMap((dim) => ['--dim', dim]);
  run(['import', modelPath(model), ...dims, '-o', graph]);
  return graph;
});
for (const topology of topologies) {
  console.log(`\n${path.basename(topology, '.json')}\n`);
  const args = ['--topology', topology, '--policy', policy, '--networks', ...graphs];
  const {status} = spawnSync(program, args, {stdio: 'inherit'});
  if (status !== 0) process.exit(1);
}
