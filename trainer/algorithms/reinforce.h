// The baseline and the loss of `reinforce`. reinforce.cpp explains them.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/published/learner.h"

namespace placeto::train {

// Mean return per step index over recent episodes of the same key.
class Baseline {
 public:
  // Mean over the last `episodes` of each key.
  explicit Baseline(uint32_t episodes) : most_(episodes) {}

  // The advantages of the returns given; 0 while there are none to compare with.
  std::vector<float> advantages(uint32_t key, const std::vector<float>& returns) const;
  void add(uint32_t key, std::vector<float> returns);

  std::string to_bytes() const;
  // False if the bytes are none that to_bytes made.
  bool from_bytes(std::string_view bytes);

 private:
  uint32_t most_;
  std::map<uint32_t, std::deque<std::vector<float>>> recent_;
};

// The loss of the choices in episodes.
PolicyLoss score_function_loss();

}  // namespace placeto::train
