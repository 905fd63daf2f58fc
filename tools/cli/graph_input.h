// The graph a subcommand works on: a graph file, or a model that is imported on the way.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "tools/costs/measured.h"
#include "tools/io/read.h"
#include "tools/onnx/import.h"
#include "tools/options/options.h"

namespace placeto::cli {

// How a model becomes a graph.
struct ModelOptions {
  std::vector<std::string> dims;    // NAME=N
  std::vector<std::string> values;  // INPUT=VALUE
  std::vector<std::string> shapes;  // TENSOR=AxBxC
  bool copy_shared = false;
  bool tear_patterns = false;
  std::vector<std::string> profiles;      // KIND=FILE, of ONNX Runtime
  std::vector<std::string> tables;        // files of node,kind,us
  std::vector<std::string> efficiencies;  // files that calibrate wrote

  bool any() const {
    return !dims.empty() || !values.empty() || !shapes.empty() || copy_shared || tear_patterns ||
           !profiles.empty() || !tables.empty() || !efficiencies.empty();
  }
};

// --dim, --set and --shape.
void add_model_settings(Command& command, ModelOptions& options);
// Those, --copy-shared, --tear-patterns, --profile, --costs and --efficiencies.
void add_model_options(Command& command, ModelOptions& options);

// Whether the file is an ONNX model, told by its content. False if it cannot be read. Standard
// input and pipes are kept in memory, and may be read again.
bool is_onnx_file(const std::string& path);

// What a file of Placeto describes, which is_onnx_file may have read already.
AnySpec load_any(const std::string& path);

struct ProfileUse {
  std::string kind, file;
  Coverage coverage;
};

// A model with the run times that the options give it.
struct ModelGraph {
  GraphSpec spec;
  ImportReport report;
  std::vector<ProfileUse> profiles;
};

// A Failure if the model cannot be imported, dimensions lack a value, or costs do not fit it.
ModelGraph import_model(const std::string& path, const ModelOptions& options);

// What the options say about a model. A Failure if one is malformed.
ModelSettings model_settings(const ModelOptions& options);

// The graph in a graph file of either form, or of an ONNX model. What could not be inferred of a
// model is said on standard error.
Graph load_graph(const std::string& path, const ModelOptions& options);

// "the shapes of 14 nodes could not be inferred ...", with the first of them; "" if none has.
std::string unknown_summary(const ImportReport& report);

}  // namespace placeto::cli
