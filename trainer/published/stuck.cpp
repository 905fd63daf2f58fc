#include "trainer/published/stuck.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace placeto::train {

// Runs that ended well (models/placeto-*.md) came from 0.691 of 0.693 at the beginning down to no
// less than 0.107; weights of entropy a few times too small end below 0.001 within a hundred
// iterations, a few times too large stay where they began.
constexpr double kNearly = 0.01;  // of the entropy of random choices
constexpr uint32_t kLeast = 10, kMost = 100;

Stuck::Stuck(const Config& config)
    : config_(config),
      random_entropy_(std::log(std::max(config.data.devices, 2u))),
      most_(std::clamp(config.iterations / 5, kLeast, kMost)),
      best_(std::numeric_limits<double>::infinity()) {}

void Stuck::see(double entropy, double best) {
  const Choices now = entropy < kNearly * random_entropy_         ? Choices::kCertain
                      : entropy > (1 - kNearly) * random_entropy_ ? Choices::kRandom
                                                                  : Choices::kDrawn;
  if (now != choices_ || best < best_) iterations_ = 0;
  if (now != Choices::kDrawn) ++iterations_;
  choices_ = now;
  entropy_ = entropy;
  best_ = best;
}

std::string Stuck::news() {
  if (said_ || !is_stuck()) return "";
  said_ = true;
  const bool certain = choices_ == Choices::kCertain;
  const EpisodesConfig& with = config_.episodes;
  return fmt::format(
      "stuck for {} iterations: choices are {} (entropy {:.3f} of {:.3f}), and no check has become "
      "better, so that {}. If that is not good enough, begin another run with {}.",
      iterations_, certain ? "all but certain" : "all but a coin's", entropy_, random_entropy_,
      certain ? "nothing new is tried any more" : "nothing has been learned yet",
      fmt::format(
          "episodes.entropy {} (here {:g} to {:g}) or episodes.learning_rate {} (here {:g}){}",
          certain ? "a few times larger" : "a few times smaller", with.entropy, with.final_entropy,
          certain ? "smaller" : "larger", with.learning_rate,
          certain && with.all_action > 0
              ? fmt::format(", or episodes.all_action 0 (here {:g})", with.all_action)
              : ""));
}

}  // namespace placeto::train
