// Profiles that ONNX Runtime writes (session option enable_profiling): a JSON list of events, one
// per node and run, durations in whole microseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/result.h"

namespace placeto {

// What the name of an engine's node says: one node of the model; several, as TensorRT joins them
// (joined_names.h); or none, of a change of layout that only mentions the nodes beside it.
enum class Naming { kOne, kJoined, kNone };

// One node as the engine ran it, which may stand for several nodes of the model.
struct ProfiledNode {
  std::string name;  // after graph optimization, without "_kernel_time"
  std::string op;    // of the engine's kernel; may be empty
  std::string provider;
  uint32_t index = 0;         // of the engine's node; kNoIndex if the profile does not say
  uint64_t output_bytes = 0;  // of its outputs together; 0 if the profile does not say
  double median_us = 0;
  Naming naming = Naming::kOne;
  std::vector<int64_t> shape = {};  // of its first output; empty if the profile does not say
};

struct Profile {
  std::vector<ProfiledNode> nodes;  // in the order of execution
  uint32_t runs = 0;                // that were used
  bool warm_up_dropped = false;     // the first of several runs
  double median_run_us = 0;         // of whole runs; 0 if the profile has none
};

struct ProfileLimits {
  uint64_t max_bytes = 1ull << 30;
  uint32_t max_events = 20'000'000;
  // Takes one of a session that ran and had nothing to do, as all of it was folded: no nodes.
  bool may_lack_nodes = false;
  // Whether there is a node of that name in the graph whose times are wanted; empty: of any.
  std::function<bool(std::string_view)> has_node = {};
};

// Reads a profile. Where a provider says how long the kernels of a node ran on the device, that is
// its time. A file that lacks the closing bracket, as one of a session that was not ended,
// is read as far as it goes. Events of nodes inside another one (the bodies of If, Loop and Scan)
// are part of it, unless the graph does not have that one, for its branch is known and stands in
// its place. Fails with kBadInput, naming the event, when it is not such a list or holds no event
// of a node.
Result<Profile> parse_profile(std::string_view text, const ProfileLimits& limits = {});
Result<Profile> read_profile(const std::string& path, const ProfileLimits& limits = {});

}  // namespace placeto
