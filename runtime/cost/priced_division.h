// PricedDivision: a division, and what its stages take by the prices of staged execution
// (staged.h).
#pragma once

#include <span>
#include <vector>

#include "runtime/base/stop.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/ready_stages.h"
#include "runtime/cost/stages.h"

namespace placeto {

// What a device pays for a cut that enters or leaves one of its stages.
double cut_price_us(const Problem& problem, uint32_t device, uint32_t output);

// A distinct tensor that leaves a stage, or a control edge to another one.
struct StageCut {
  uint32_t output, reader_begin, reader_end;  // readers: stages, each once
  uint32_t next;                              // of the same stage
};

struct PricedDivision {
  Division division;
  std::vector<StageRun> stages;
  std::vector<StageCut> cuts;
  std::vector<uint32_t> readers;  // of each cut; as long as can be
  std::vector<double> busy_us;    // per device: what its stages take

  // With room for every division.
  explicit PricedDivision(const Problem& problem, Stop* stop = nullptr);
};

// Not shareable between threads; the problem must outlive it. No call allocates.
class StagePricer {
 public:
  explicit StagePricer(const Problem& problem, Stop* stop = nullptr);

  // Fills in what follows from its division, which fits the assignment. Incomplete once stopped.
  void price(std::span<const uint32_t> assignment, PricedDivision& priced);

 private:
  void find_cuts(PricedDivision& priced);
  uint32_t add_cut(uint32_t output, uint32_t stage, uint32_t end, PricedDivision& priced);
  uint32_t add_controls(uint32_t node, uint32_t stage, uint32_t end, PricedDivision& priced);
  static void lead(PricedDivision& priced, uint32_t stage, StageCut cut);
  double price_us(uint32_t device, uint32_t output) const {
    return cut_price_us(problem_, device, output);
  }

  const Problem& problem_;
  Stop* stop_;
  bool has_control_ = false;
  std::vector<uint32_t> same_price_;  // per device: the first with its price of cuts
  std::vector<uint32_t> seen_;        // per stage: the last output that it was found to read
};

// Whether devices take the stage of the highest upward rank, rather than the first that was ready.
bool ranks_stages(const Problem& problem);

}  // namespace placeto
