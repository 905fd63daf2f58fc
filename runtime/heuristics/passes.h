// Repeated earliest-finish passes. Each re-places every node in the order in which the previous
// pass's simulated timeline started them. A pass costs one list schedule and one simulation, and
// the first ones are worth hundreds of random moves.
#pragma once

#include <vector>

#include "runtime/base/random.h"
#include "runtime/heuristics/earliest_finish.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Chains of passes over one problem. Not shareable between threads.
class Passes {
 public:
  // The evaluator's `stop` ends them.
  Passes(Evaluator& evaluator, uint64_t seed);

  // A new chain: its first pass visits nodes by upward rank and knows no placement.
  void begin();
  // A new chain from a placement that obeys the rules; a candidate itself, named `method`.
  void begin(std::string method, const Assignment& start);

  // One more pass of each chain; what they find is a candidate named `method`.
  void run(const std::string& method);

  // The best placement met; empty if stopped before there was one.
  const Candidate& best() const { return best_; }

 private:
  // Where a pass starts from.
  struct Point {
    Assignment assignment;
    std::vector<uint32_t> order;          // in which its timeline starts the nodes
    std::vector<double> latest_start_us;  // without a longer run
    Score score;
  };
  struct Chain {
    Point last, best;
  };

  void extend(Chain& chain, const std::string& method);
  void add(Chain& chain, Candidate candidate);

  const Problem* problem_;
  Stop* stop_;
  Random random_;
  Evaluator& evaluator_;
  EarliestFinish builder_;
  std::vector<Chain> chains_;
  Candidate best_;
};

}  // namespace placeto
