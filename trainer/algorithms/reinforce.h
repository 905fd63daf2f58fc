// Advantages of steps: what a step's choice was worth beyond what was to be expected.
//
// `reinforce`, as published (Addanki et al., section 3.3 and appendix on training): the
// undiscounted return from the step on, minus a baseline per step index, the mean return at that
// index over recent episodes. Graphs of a training set differ in size and in what there is to gain,
// so each graph has baselines of its own (per kind of start, too).
//
// `group`: several episodes on one graph from one start are each other's baseline: the return minus
// the mean over the others at the same step. All of them decide the same nodes in the same order.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/published/episode.h"

namespace placeto::train {

class Baseline {
 public:
  // Mean over the last `episodes` of each key.
  explicit Baseline(uint32_t episodes) : most_(episodes) {}

  // Of the returns given; 0 while there are none to compare with.
  std::vector<float> advantages(uint32_t key, const std::vector<float>& returns) const;
  void add(uint32_t key, std::vector<float> returns);

  std::string to_bytes() const;
  // False if the bytes are none that to_bytes made.
  bool from_bytes(std::string_view bytes);

 private:
  uint32_t most_;
  std::map<uint32_t, std::deque<std::vector<float>>> recent_;
};

// One list of advantages per episode; all have as many steps. At least two.
std::vector<std::vector<float>> group_advantages(const std::vector<std::vector<float>>& returns);

}  // namespace placeto::train
