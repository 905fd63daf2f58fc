// Run: where a training run is, and what it offers its algorithm.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/random.h"
#include "runtime/policy/file/policy.h"
#include "trainer/base/config.h"
#include "trainer/data/source.h"
#include "trainer/train/hosts.h"
#include "trainer/train/run_folder.h"

namespace placeto::train {

struct Episode;

struct Progress {
  uint32_t iteration, iterations;
  double seconds;       // this process has been training
  double left;          // estimate
  std::string summary;  // how well it does, in a few words
};

struct TrainOptions {
  Hosts* hosts = nullptr;  // that collect, this one among them; each trains in its own folder
  // Saves after the iteration under way and returns; kStopped while graphs are still being read.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_note;  // one line for people
  std::function<void(const Episode&)> on_episode;   // of `placeto`: each that this host samples
};

// In a random order.
inline void shuffle(std::vector<uint32_t>& list, Random& random) {
  for (auto i = static_cast<uint32_t>(list.size()); i > 1; --i) {
    std::swap(list[i - 1], list[random.below(i)]);
  }
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

struct Run {
  const Config& config;
  std::string config_text;
  RunFolder& folder;
  const TrainOptions& options;
  ProblemSource problems;
  Checkpoint state;
  std::shared_ptr<const Policy> policy;  // that acts; none in a first iteration without one
  bool stopping = false;                 // this host or another has been asked to stop

  // Goes linearly from one value to the other over the run.
  double faded(double from, double to) const {
    return from + (to - from) * double(state.iteration) / double(config.iterations);
  }
  // The jobs first..last-1 of `jobs` that are this host's.
  std::pair<uint32_t, uint32_t> share(uint32_t jobs) const {
    return options.hosts != nullptr ? options.hosts->share(jobs) : std::pair{0u, jobs};
  }
  // Everybody's bytes of this iteration, by rank; those given if there is no other host.
  Result<std::vector<std::string>> exchange(std::string mine);
  // The records of all hosts, this one's given.
  template <class Records>
  Result<Records> exchange_records(Records mine);
  // This iteration's records, for a run that continues; those of an iteration before.
  template <class Records>
  Status keep_records(const Records& records) {
    return folder.save_records(state.iteration, records.to_bytes());
  }
  template <class Records>
  Result<Records> kept_records(uint32_t iteration) const;
  // The policy file that the learner's networks make.
  Result<std::vector<uint8_t>> file_of(PolicySpec spec) const;
  // From now on these networks act.
  Status act_by(PolicySpec spec);
};

template <class Records>
Result<Records> Run::exchange_records(Records mine) {
  if (options.hosts == nullptr) return mine;
  const Result<std::vector<std::string>> records = exchange(mine.to_bytes());
  if (!records.ok()) return records.status();
  Records all;
  for (const std::string& bytes : *records) {
    Records part;
    if (!part.from_bytes(bytes)) return Status::io("records of another host are damaged");
    all.append(part);
  }
  return all;
}

template <class Records>
Result<Records> Run::kept_records(uint32_t iteration) const {
  const Result<std::string> bytes = folder.load_records(iteration);
  if (!bytes.ok()) return bytes.status();
  Records records;
  if (!records.from_bytes(*bytes)) {
    return Status::bad_input(folder.records_path(iteration) + ": not records");
  }
  return records;
}

}  // namespace placeto::train
