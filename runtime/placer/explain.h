// Why a node is where it is: what the run would cost if it, and the nodes colocated with it, were
// moved and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/cost/move_evaluator.h"
#include "runtime/cost/stages.h"

namespace placeto {

struct Reason {
  struct Alternative {
    uint32_t device;
    Score score;  // of the whole placement after the move
  };
  uint32_t device;  // where the node is
  Score score;      // of the placement as it is
  // The best of the other devices that rules allow; absent if there is none.
  std::optional<Alternative> second;
};

// One per placement; not shareable between threads. The problem must outlive it.
class Explainer {
 public:
  // `assignment` obeys the rules of the problem. `division`: of its stages, under staged execution;
  // empty: by the best rule. After a move stages are always formed by rule.
  Explainer(const Problem& problem, std::span<const uint32_t> assignment,
            const Division& division = {}, Stop* stop = nullptr);

  // Costs one incremental evaluation per device. node < node_count. Says nothing true once stopped.
  Reason explain(uint32_t node);

 private:
  MoveEvaluator evaluator_;
  Score here_;
  std::vector<Change> changes_;
};

}  // namespace placeto
