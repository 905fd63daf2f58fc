// Workloads: graphs to place, made on the spot. Named networks have the shapes, parameters and
// floating-point operations of the published ones; random families have a given size and a given
// ratio of communication to computation.
//
// Named networks leave cost_us absent, so a cost model estimates it from flops and bytes: they run
// on any topology whose devices state their peak rates. Random graphs state one cost_us for every
// kind. Everything is float32; the same name and options give the same graph on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/graph/graph.h"

namespace placeto {

// What a training step keeps for each parameter beside the parameter itself.
enum class Optimizer : uint8_t { kAdam, kMomentum, kSgd };  // 2, 1, 0 more values

// 0 or "" means the workload's default (OptionInfo::fallback); an option that does not apply to
// the workload must be left at its default.
struct WorkloadOptions {
  uint32_t batch = 0;                      // samples in one step
  bool training = false;                   // forward, backward and update, not forward alone
  Optimizer optimizer = Optimizer::kAdam;  // of the training step
  uint64_t seed = 0;                       // of random architectures and graphs
  uint32_t layers = 0;                     // layers, or cells in each stage
  uint32_t length = 0;                     // tokens of a sample, or unrolled time steps
  uint32_t hidden = 0;                     // width of the hidden state, or first filters
  uint32_t vocabulary = 0;                 // rows of the embedding
  uint32_t experts = 0;                    // experts of each mixture layer
  uint32_t nodes = 0;                      // exact number of nodes of a random graph
  uint32_t width = 0;                      // nodes side by side in a random graph
  uint32_t degree = 0;                     // mean number of edges per node of a random graph
  double ccr = 0;                          // communication-to-computation ratio, see below
  std::string size;                        // named variant, e.g. "medium"
};

// The communication-to-computation ratio of a random graph: the mean over its edges of
// (bytes of the edge's output / kReferenceBandwidth), over the mean of its nodes' cost_us.
// The reference is the link of the paper's K80 machine, models/topologies/2xk80.json.
inline constexpr double kReferenceBandwidth = 7600;  // bytes per microsecond
inline constexpr double kDefaultCcr = 1;
inline constexpr double kMinCcr = 1e-4, kMaxCcr = 1e4;

// A whole-number option of one workload.
struct OptionInfo {
  std::string_view name;  // "batch": the option's name on the command line, too
  uint32_t WorkloadOptions::*value;
  uint32_t fallback, min, max;
};

struct WorkloadInfo {
  std::string_view name;
  std::string_view summary;                 // one line
  std::span<const OptionInfo> options;      // the whole-number options that apply
  std::span<const std::string_view> sizes;  // values of `size`, the default first; often none
  bool training;                            // `training` and `optimizer` apply
  bool seed;                                // `seed` applies
  bool ccr;                                 // `ccr` applies, kDefaultCcr when 0
  // What generate() calls once the options are checked and every default is filled in.
  Result<GraphSpec> (*build)(const WorkloadOptions& options);
};

// Every workload, networks first. Lives as long as the program.
std::span<const WorkloadInfo> workloads();

// Makes the graph; it passes Graph::build with default limits. Fails with kInvalidArgument when
// the name is unknown (the message lists the known ones), when an option is out of range or does
// not apply, or when the graph would be too large.
Result<GraphSpec> generate(std::string_view name, const WorkloadOptions& options = {});

}  // namespace placeto
