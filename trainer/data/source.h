// ProblemSource: what a run learns from and is checked on: problems drawn from a distribution, or
// one's own files.
#pragma once

#include <memory>
#include <string>

#include "trainer/data/own.h"

namespace placeto::train {

class ProblemSource {
 public:
  // kBadInput if the configuration names files that cannot be used; kStopped once `stop` is set.
  static Result<ProblemSource> open(const Config& config, const std::atomic<bool>* stop = nullptr);

  // These and no others: to learn from and to check on.
  static ProblemSource of(const Config& config, OwnProblems problems);

  // A problem to learn from.
  Instance draw(uint64_t seed) const;
  // Problems to check on, 0 to held_out_count() - 1; never learned from, but where there is only
  // one graph of one's own.
  Instance held_out(uint32_t i) const;
  uint32_t held_out_count() const;

  // Lines for people; empty for a distribution.
  std::string describe() const;
  // A line for each of one's own graphs and topologies: its part, SHA-256 and name; empty for a
  // distribution.
  std::string inventory() const;
  // How one's own files are split; null without any.
  const OwnSplit* own() const { return own_.get(); }

 private:
  explicit ProblemSource(const Config& config) : config_(&config) {}

  const Config* config_;
  std::shared_ptr<const OwnSplit> own_;
};

}  // namespace placeto::train
