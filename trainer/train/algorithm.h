// Algorithm: what is learned in an iteration of a run, and from what. The run does the rest: it
// repeats iterations, checks, saves, resumes and reports (train/train.h). Which algorithms there
// are, it need not know (algorithms/make_algorithm.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/policy/file/policy.h"
#include "trainer/nn/learner.h"
#include "trainer/train/run.h"

namespace placeto::train {

// What came of an iteration.
struct Iteration {
  uint64_t examples = 0;  // moves credited, or steps of episodes: for the policy's provenance
  std::string summary;    // in a few words
  Metrics metrics;
};

// How good a policy is.
struct Check {
  double value = 0;              // lower is better
  std::vector<double> measured;  // one for each of checked_names()
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Before the first iteration of a run, or of the part that continues one.
  virtual Status begin(Run& run, bool resumed) = 0;
  // Whether the first iteration acts by the learner's policy; else there is none before the second.
  virtual bool acts_at_once() const { return true; }

  virtual Result<Iteration> iterate(Run& run) = 0;

  // How good the policy is that would ship now.
  virtual Check check(const Run& run, std::shared_ptr<const Policy> policy) const = 0;
  // What a check measures, each of it the logarithm of a ratio to `auto`.
  virtual std::vector<std::string> checked_names() const = 0;

  virtual const Learner& learner() const = 0;
  // That acts in an iteration. Where probabilities of its choices are in what is learned from them,
  // it has to be the very network that learns.
  virtual PolicySpec acting_policy() const { return learner().current_policy(); }
  // All that a checkpoint keeps.
  virtual std::string save() const = 0;
  virtual Status load(const std::string& bytes) = 0;
  // So many iterations' records are kept beside checkpoints.
  virtual uint32_t records_kept() const { return 0; }
};

// The algorithm that a configuration, which has been checked, names.
using MakeAlgorithm = std::unique_ptr<Algorithm> (*)(const Config& config);

}  // namespace placeto::train
