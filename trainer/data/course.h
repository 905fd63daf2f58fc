// Courses: graphs that episodes run on, where those start, and what their costs are measured by,
// whatever architecture the policy has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/heuristics/method.h"
#include "trainer/data/problems.h"

namespace placeto::train {

// Where episodes on a graph start.
enum class Start : uint8_t { kHeuristic, kSingle, kRandom };
// In the order of Start.
inline constexpr Start kStarts[] = {Start::kHeuristic, Start::kSingle, Start::kRandom};
inline constexpr const char* kStartNames[] = {"heuristic", "single", "random"};

// The one of that name, as a configuration has it in episodes.starts; nothing if there is none.
std::optional<Start> parse_start(std::string_view name);

// A graph to learn on, and what its episodes share.
struct Course {
  Instance instance;
  Candidate heuristic, single;  // the best of `auto` without a policy; the best single device
  double reference_us = 0;      // makespan of `heuristic`
  double limited_bytes = 0;     // memory of all devices where it is limited
};
// Nothing if no heuristic fits the memory.
std::optional<Course> make_course(Instance instance);

// The placement to start from; a random one is drawn by the seed.
Candidate start_of(const Course& course, Start start, uint64_t seed);

// What a placement takes beyond the memory there is, as a share of all that is limited: what
// episodes.memory_penalty is a factor of.
double overflow_share(const Course& course, const Score& score);

}  // namespace placeto::train
