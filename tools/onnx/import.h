// ONNX models as graphs to place.
//
// One graph node for each node of the model's main graph, with the name that the naming rule of
// model.h gives it, except for Constant nodes; output k of a node is its output k in the model.
// - Bytes of outputs, flops and bytes accessed follow from the shapes (analysis.h, work.h). What
//   is not known counts 0 bytes (a tensor whose rank is known: its unknown axes count 1) and is
//   listed in the report.
// - Parameters (initializers and Constant nodes) are resident on the nodes that read them. One that
//   several nodes read is resident on each if it is small, as engines copy it; if it is large
//   (kLargeShared), the nodes share a device and the first holds it, unless `copy_shared` is set.
// - What follows from parameters alone is computed when an engine loads the model: its node costs
//   no operations, and holds the result instead of those parameters, as an output of 0 bytes, where
//   one node alone reads it; both then share a device.
// - An If whose condition is constant, follows from constants and fixed shapes, or is set
//   (ModelSettings) is replaced by the branch that it takes (inline_branches.h). An input with a
//   default decides none, as callers may replace it; sizes are those that it has by default.
// - Any other node with subgraphs is one node: its edges include what its subgraphs read from
//   outside, and their parameters are resident on it. So are those of a function on each call.
// - Nodes have the domain of their operator, the version of its operator set that the model imports
//   and the types of their inputs, as far as they are known; calls of functions that the model
//   defines have none of these.
// - Inputs of the model are no nodes: they are on the host, as are the outputs when the run ends.
// - External data files are never opened; sizes come from the model.
// Run times are not set: placing estimates them by the devices' rates. tools/costs has better ones.
//
// Where memory can run out, set a new-handler that ends the program, as the command does: libonnx
// goes on without the operators that it had no memory for, and protobuf frees twice what a oneof
// was about to hold (TypeProto, in 3 of 20 models tried). Else std::bad_alloc comes out of here.
//
// No protobuf type in this header. In a build without libonnx import_onnx fails and says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/graph/graph.h"
#include "tools/costs/node_outputs.h"
#include "tools/costs/whole_patterns.h"
#include "tools/onnx/settings.h"

namespace placeto {

// Parameters of at least this size that several nodes read tie those nodes together.
inline constexpr uint64_t kLargeShared = 1 << 20;

struct ImportOptions {
  ModelSettings settings;
  bool copy_shared = false;  // large shared parameters too count on every node that reads them
  // What engines run as one shares a device; none of these: nodes may be torn apart.
  std::span<const WholePattern> patterns = default_whole_patterns();
  Limits limits;                         // of the graph
  uint64_t max_file_bytes = UINT64_MAX;  // of the model, whose weights take no memory
};

// A node of which something could not be inferred.
struct UnknownShape {
  std::string node, op, problem;
};

// An input or output of the model, its shape as the model says it: "batch x 3 x 224 x 224".
struct ModelTensor {
  std::string name, type, shape;
};

// An If that became the branch that it takes.
struct InlinedIf {
  std::string node, branch;
  uint64_t nodes = 0;
};

// An If that stays one node, and the inputs of the model that would decide it if they were set.
struct UndecidedIf {
  std::string node;
  std::vector<std::string> inputs;
  uint64_t nodes = 0;  // of the larger branch
};

struct ImportReport {
  std::string producer;
  int64_t ir_version = 0;
  int64_t opset = 0;                                                 // of ONNX's own domain
  uint64_t parameters = 0, parameter_bytes = 0, external_bytes = 0;  // each tensor once
  uint64_t flops = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;  // of all domains, "" for ONNX's own
  std::vector<ModelTensor> inputs, outputs;             // without those that are parameters or set
  std::vector<std::string> symbols;                     // free dimensions of the inputs
  std::vector<InlinedIf> inlined;
  std::vector<UndecidedIf> undecided;
  std::vector<std::string> corrected;  // shapes that were set and that the model says otherwise
  std::vector<UnknownShape> unknown;
};

struct ImportedGraph {
  GraphSpec spec;
  std::vector<NodeOutputs> outputs;  // of each node, as the model has them
  ImportReport report;
};

// Whether this build can import.
bool have_onnx();

// Whether the numbers fit the free dimensions of the model in that file (dimensions.h): a number
// for each that is read with the inputs set as they are, and none for what it has not.
Status check_dimensions(const std::string& path, const ModelSettings& settings);

// Whether operators of the model, those of bodies and functions too, round to the steps of a few
// bits: where sums differ in their last digit, results may then differ by a step. No for what
// cannot be read.
bool rounds_to_steps(const std::string& path);

// Reads and imports. Fails with kIo and kBadInput as read_onnx and analyze do, and with
// kInvalidArgument if dimensions are left without a value or set in vain. Messages start with the
// path. What it returns passes Graph::build.
Result<ImportedGraph> import_onnx(const std::string& path, const ImportOptions& options = {});
// From memory, without a path in messages; `name` is that of the graph if the model has none.
Result<ImportedGraph> import_onnx(std::span<const uint8_t> bytes, const std::string& name,
                                  const ImportOptions& options = {});

}  // namespace placeto
