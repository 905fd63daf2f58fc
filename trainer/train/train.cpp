#include "trainer/train/train.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/graph/text.h"
#include "trainer/base/files.h"
#include "trainer/train/export.h"

namespace placeto::train {
namespace {

// The iteration to begin with, 0 if from the beginning; that of all hosts.
Result<uint32_t> find_beginning(const Run& run, bool resume) {
  const auto note = [&](const std::string& text) {
    if (run.options.on_note) run.options.on_note(text);
  };
  std::vector<uint32_t> mine = {0};
  std::string passed_over;
  if (resume) {
    Result<std::vector<uint32_t>> found = run.folder.beginnings(&passed_over);
    if (!found.ok()) return found.status();
    mine = std::move(*found);
  }
  Result<uint32_t> begin = mine.back();
  if (run.options.hosts != nullptr) {
    begin =
        agree_on_beginning(*run.options.hosts, run.config_text + run.problems.inventory(), mine);
    if (!begin.ok()) return begin;
  }
  if (!passed_over.empty()) {
    note(passed_over + fmt::format("continuing from iteration {}", *begin));
  } else if (*begin < mine.back()) {
    note(fmt::format("continuing from iteration {}, the last that all hosts have", *begin));
  } else if (resume && *begin == 0) {
    note("no checkpoint yet: from the beginning");
  } else if (resume && *begin >= run.config.iterations) {
    note(fmt::format("{0} of {0} iterations are done: nothing to continue", run.config.iterations));
  }
  return begin;
}

Status resume_from_checkpoint(Run& run, Algorithm& algorithm, uint32_t iteration) {
  Result<Checkpoint> found = run.folder.load(iteration);
  if (!found.ok()) return found.status();
  run.state = std::move(*found);
  const Status loaded = algorithm.load(run.state.learner);
  return loaded.ok() ? loaded : loaded.at(run.folder.file("checkpoints"));
}

// Keeps the policy that would ship now if it is the best so far.
Status check(Run& run, const Algorithm& algorithm) {
  const Result<std::vector<uint8_t>> bytes = run.file_of(algorithm.learner().policy());
  if (!bytes.ok()) return bytes.status();
  Result<std::shared_ptr<const Policy>> policy = load_exported(*bytes);
  if (!policy.ok()) return policy.status();
  Check found = algorithm.check(run, std::move(*policy));
  run.state.checked = std::move(found.measured);
  if (std::isnan(found.value)) {
    return Status::invalid(
        "on none of the held-out problems is a placement found that fits: nothing tells which "
        "policy is best, expected smaller graphs or more memory");
  }
  if (!(found.value < run.state.best)) return {};
  run.state.best = found.value;
  return write_whole(run.folder.file("best.plpo"), std::span<const uint8_t>(*bytes));
}

// Whether checks so far have found a best policy that is not in its file any more.
bool has_lost_best(const Run& run) {
  if (!std::isfinite(run.state.best)) return false;
  const Result<std::string> bytes = read_text(run.folder.file("best.plpo"));
  return !bytes.ok() || !load_exported(as_bytes(*bytes)).ok();
}

// What the last check measured, by name; no numbers before the first.
Metrics last_check(const Run& run, const Algorithm& algorithm) {
  Metrics all;
  for (const std::string& name : algorithm.checked_names()) {
    all.emplace_back(name, run.state.checked[all.size()]);
  }
  return all;
}

void report(const Run& run, const Algorithm& algorithm, const Iteration& done, double seconds,
            uint32_t first_iteration) {
  if (!run.options.on_progress) return;
  std::string checked;
  for (const auto& [name, value] : last_check(run, algorithm)) {
    if (std::isnan(value)) continue;  // there was no check yet
    checked += fmt::format("  {} {:.4f}", name, std::exp(value));
  }
  if (!checked.empty()) checked += " of auto";
  const uint32_t iterations = run.config.iterations, now = run.state.iteration;
  const double left = seconds / (now - first_iteration) * (iterations - now);
  run.options.on_progress({now, iterations, seconds, left, done.summary + checked});
}

Status append_metrics(Run& run, const Algorithm& algorithm, const Iteration& done) {
  Metrics all = {{"iteration", run.state.iteration}, {"seconds", run.state.seconds}};
  all.insert(all.end(), done.metrics.begin(), done.metrics.end());
  for (const auto& [name, value] : last_check(run, algorithm)) {
    all.emplace_back("checked_" + name, value);
  }
  return run.folder.metrics().append(all);
}

Status save(Run& run, const Algorithm& algorithm) {
  run.state.learner = algorithm.save();
  return run.folder.save(run.state, algorithm.records_kept());
}

// The policy of where the run continues, which may be worse, takes the place of a best one that is
// gone. What checks to come compare with is saved along with it.
Status replace_lost_best(Run& run, const Algorithm& algorithm) {
  if (!has_lost_best(run)) return {};
  if (run.options.on_note) {
    run.options.on_note(fmt::format(
        "{}: gone or damaged; until a better one comes, it is the policy of iteration {}",
        run.folder.file("best.plpo"), run.state.iteration));
  }
  run.state.best = std::numeric_limits<double>::infinity();
  if (Status s = check(run, algorithm); !s.ok()) return s;
  return save(run, algorithm);
}

Status repeat(Run& run, Algorithm& algorithm) {
  const Config& config = run.config;
  const Stopwatch watch;
  const double seconds_before = run.state.seconds;
  const uint32_t first_iteration = run.state.iteration;
  while (run.state.iteration < config.iterations && !run.stopping) {
    const Result<Iteration> done = algorithm.iterate(run);
    if (!done.ok()) return done.status();
    run.state.examples += done->examples;
    const bool last = ++run.state.iteration == config.iterations;
    if (Status s = run.act_by(algorithm.acting_policy()); !s.ok()) return s;
    const bool checks = last || run.state.iteration % config.check.every == 0;
    if (checks) {
      if (Status s = check(run, algorithm); !s.ok()) return s;
    }
    run.state.seconds = seconds_before + watch.seconds();
    report(run, algorithm, *done, watch.seconds(), first_iteration);
    if (Status s = append_metrics(run, algorithm, *done); !s.ok()) return s;
    // Hosts stop together: after the iteration in which one told the others.
    if (run.options.hosts == nullptr && run.options.stop != nullptr)
      run.stopping = *run.options.stop;
    // After every check: the best policy is then of no iteration that is done again, perhaps with
    // other settings.
    if (run.stopping || checks || run.state.iteration % config.check.save_every == 0) {
      if (Status s = save(run, algorithm); !s.ok()) return s;
    }
  }
  return {};
}

}  // namespace

Status train(const Config& config, std::string_view config_text, MakeAlgorithm make,
             RunFolder& folder, bool resume, const TrainOptions& options) {
  if (options.hosts != nullptr && config.learn.processor != "cpu") {
    return Status::invalid(
        "learn.processor: hosts must have the same weights to the last bit, which a GPU does not "
        "give: expected \"cpu\", or one host");
  }
  if (Status s = can_learn_on(config.learn.processor); !s.ok()) return s;
  Result<ProblemSource> problems = ProblemSource::open(config, options.stop);
  if (!problems.ok()) return problems.status();
  Run run{config, std::string(config_text), folder, options, std::move(*problems), {}, nullptr};
  if (const std::string text = run.problems.describe(); !text.empty() && options.on_note) {
    options.on_note(text);
  }
  run.state.best = std::numeric_limits<double>::infinity();
  const std::unique_ptr<Algorithm> algorithm = make(config);
  if (Status s = folder.lock(); !s.ok()) return s;
  if (resume) {
    if (Status s = folder.check_files(); !s.ok()) return s;
  }
  if (Status s = folder.keep_settings(config); !s.ok()) return s;
  if (Status s = folder.keep_inventory(run.problems.inventory()); !s.ok()) return s;
  const Result<uint32_t> begin = find_beginning(run, resume);
  if (!begin.ok()) return begin.status();
  if (*begin > 0) {
    if (Status s = resume_from_checkpoint(run, *algorithm, *begin); !s.ok()) return s;
  }
  if (resume) {
    if (Status s = folder.metrics().truncate(*begin); !s.ok()) return s;
  }
  resume = *begin > 0;
  if (Status s = algorithm->begin(run, resume); !s.ok()) return s;
  constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();
  run.state.checked.resize(algorithm->checked_names().size(), kNotYet);
  // What a run begins with is the first that can be the best.
  if (!resume && !config.learn.start.empty()) {
    if (Status s = check(run, *algorithm); !s.ok()) return s;
  }
  if (resume || algorithm->acts_at_once()) {
    if (Status s = run.act_by(algorithm->acting_policy()); !s.ok()) return s;
  }
  if (resume) {
    if (Status s = replace_lost_best(run, *algorithm); !s.ok()) return s;
  }
  return repeat(run, *algorithm);
}

Result<std::vector<uint8_t>> export_run(const Config& config, std::string_view config_text,
                                        MakeAlgorithm make, const RunFolder& folder) {
  if (Status s = folder.check_settings(config); !s.ok()) return s;
  const Result<Checkpoint> checkpoint = folder.load_latest();
  if (!checkpoint.ok()) return checkpoint.status();
  Config here = config;
  here.learn.processor = "cpu";  // weights of a run on a GPU can be read without one
  const std::unique_ptr<Algorithm> algorithm = make(here);
  if (Status s = algorithm->load(checkpoint->learner); !s.ok()) {
    return s.at(folder.file("checkpoints"));
  }
  return export_policy(algorithm->learner().policy(), config, config_text, checkpoint->examples);
}

}  // namespace placeto::train
