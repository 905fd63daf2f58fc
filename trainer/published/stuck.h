// Stuck: whether a policy has stopped learning, told by the entropy of its choices. One that is all
// but certain draws nothing new any more; one that chooses as by a coin has not begun.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/base/config.h"

namespace placeto::train {

class Stuck {
 public:
  explicit Stuck(const Config& config);

  // After each iteration: the mean entropy of its choices in nats, and the best check so far, lower
  // being better.
  void see(double entropy, double best);

  // For so many iterations in a row, up to now, choices have been all but certain, or all but a
  // coin's, and no check has become better.
  uint32_t iterations() const { return iterations_; }
  // For so long that nothing better is to be expected.
  bool is_stuck() const { return iterations_ >= most_; }
  // What a person should know and could change; "" if there is nothing, or it has been said.
  std::string news();

 private:
  enum class Choices : uint8_t { kDrawn, kCertain, kRandom };

  const Config& config_;
  double random_entropy_;  // where all devices are as likely
  uint32_t most_;          // iterations
  Choices choices_ = Choices::kDrawn;
  double entropy_ = 0, best_;
  uint32_t iterations_ = 0;
  bool said_ = false;
};

}  // namespace placeto::train
