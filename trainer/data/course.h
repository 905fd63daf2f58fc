// Courses: graphs that episodes run on, and what the episodes of a graph share.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/heuristics/method.h"
#include "trainer/data/problems.h"

namespace placeto::train {

// Where episodes on a graph start.
enum class Start : uint8_t { kHeuristic, kSingle, kRandom };
// In the order of Start.
inline constexpr Start kStarts[] = {Start::kHeuristic, Start::kSingle, Start::kRandom};
inline constexpr const char* kStartNames[] = {"heuristic", "single", "random"};

// A graph to learn on, and what its episodes share.
struct Course {
  Instance instance;
  Candidate heuristic, single;  // the best of `auto` without a policy; the best single device
  double reference_us = 0;      // makespan of `heuristic`
};
// Nothing if no heuristic fits the memory.
std::optional<Course> make_course(Instance instance);

}  // namespace placeto::train
