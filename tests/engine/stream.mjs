// Benchmark, no test: what `placeto tune --objective throughput` hands out for a stream of requests,
// beside the other ways to serve one. Prints the table of ../bench/results/runner.md.
//
//   PLACETO=build/release/bin/placeto ENGINE_SCRATCH=/tmp/stream \
//     node tests/engine/stream.mjs MACHINE.json MODELS.json
//
// The files are those of proof.mjs. Numbers are times per request over one thread with the whole
// model, one request after the other.
import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync} from 'node:fs';
import path from 'node:path';

const placeto = process.env.PLACETO, scratch = process.env.ENGINE_SCRATCH;
const [machineFile, modelsFile] = process.argv.slice(2);
const kRuns = '9';
const flags = (name, values = []) => values.flatMap((value) => [name, value]);

function tune(model) {
  const folder = path.join(scratch, `${model.name}-stream`);
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  const result = spawnSync(placeto, ['tune', model.file, '-t', machineFile, '-o',
    path.join(folder, 'tuned'), '--objective', 'throughput', '--runs', kRuns, '--json',
    ...flags('--dim', model.dims), ...flags('--input', model.inputs)],
  {encoding: 'utf8', maxBuffer: 1 << 28, timeout: 300e3});
  if (result.status !== 0) throw new Error(result.stderr.trim());
  return JSON.parse(result.stdout);
}

const number = (value) => Number.isFinite(value) ? value.toFixed(2) : '-';

console.log('| model | handed out | measured | one device | best pipeline | replicas | threads | engine |');
console.log('|---|---|---|---|---|---|---|---|');
const errors = [];
for (const model of JSON.parse(readFileSync(modelsFile, 'utf8'))) {
  try {
    const {contenders, chosen} = tune(model);
    const least = (wanted) => Math.min(...contenders.filter(wanted).map((c) => c.over_whole));
    const cells = [
      least((c) => c.name === 'one device'),
      least((c) => c.stages > 1),
      least((c) => c.replicas > 1),
      least((c) => c.name.includes('threads')),
      least((c) => c.name.startsWith('the engine')),
    ];
    console.log(`| ${model.name} | ${contenders[chosen].name} | ` +
      `${[contenders[chosen].over_whole, ...cells].map(number).join(' | ')} |`);
    for (const c of contenders) {
      if (c.predicted_us > 0) errors.push(Math.abs(c.predicted_over_whole / c.over_whole - 1));
    }
  } catch (error) {
    console.error(`${model.name}: left out: ${error.message}`);
  }
}
errors.sort((a, b) => a - b);
console.log(`\n${errors.length} placed contenders: error median ` +
  `${(100 * errors[errors.length >> 1]).toFixed(0)}%, 90% within ` +
  `${(100 * errors[Math.ceil(0.9 * errors.length) - 1]).toFixed(0)}%`);
