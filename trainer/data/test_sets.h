// Problems to measure policies on, fixed by name.
//
//   mixed            as in training, graphs of 40 to 200 nodes and networks up to 700: random
//                    graphs are new to policies, networks those of training on other devices
//   large            random graphs of 1,000 nodes, else as in training
//   cifar10, ptb, nmt            the unseen half of a data set (trainer/data/families.h)
//   cifar10-seen, ...            the half that policies were trained on
//   nmt-slow, nmt-fast, ...      the unseen half with a link of a quarter and of four times the
//                                bandwidth
//   devices-12, devices-16       random graphs on more devices than training has (8)
//   ring, bus, tree              random graphs on six devices wired as training never does: a ring
//                                (bandwidth falls with the distance), one channel for all, and
//                                pairs of devices whose traffic beyond the pair shares an uplink
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/problems.h"

namespace placeto::train {

struct TestSetOptions {
  uint32_t problems = 64;  // of sets that are drawn
  uint32_t large = 8;      // of `large`
  uint32_t devices = 2;    // of data sets
  uint32_t groups = 0;     // of data sets: merge operators to at most so many nodes; 0: do not
  bool fresh = false;      // drawn problems that no other measurement has, to judge a choice
};

struct TestSet {
  std::string name;
  std::vector<std::function<Instance()>> problems;
  uint32_t per_graph = 1;  // so many problems in a row are one graph, on as many topologies
  std::vector<std::string> notes = {};  // lines for people
};

// The names there are, for messages and help.
std::string test_sets_text();

// kInvalidArgument, with the names there are, if there is none of that name.
Result<TestSet> test_set(std::string_view name, const TestSetOptions& options);

// Up to so many problems that a run of that configuration, which has no graphs of its own, does not
// learn from, on devices as it learns to place on: of a family's unseen half, merged alike; for
// `pairwise`, which places on any devices, `mixed`; for `placeto` drawn as those that it learns
// from.
TestSet unseen_by(const Config& config, uint32_t problems);

// One's own problems, as a set named "own". Errors: data/own.h.
Result<TestSet> own_test_set(const std::vector<std::string>& graphs,
                             const std::vector<std::string>& topologies);

}  // namespace placeto::train
