// Opens a session, and runs it once if there are inputs, in a process of its own: the engine writes
// its log to standard error. Argument: {"model", "settings", "providers", "inputs"} as JSON.
import {feedsOf, ort} from './support.mjs';

const job = JSON.parse(process.argv[2]);
const session = await ort.InferenceSession.create(job.model, {
  executionProviders: job.providers,
  extra: {session: job.settings},
  graphOptimizationLevel: 'disabled',  // every node keeps its name, so that the log can be compared
  intraOpNumThreads: 1,
  logSeverityLevel: 0,
});
if (job.inputs) await session.run(feedsOf(job));
