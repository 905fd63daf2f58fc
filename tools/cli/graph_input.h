// The graph a subcommand works on: a graph file, or a model that is imported on the way.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "tools/costs/sources.h"
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
  CostSources costs;
  std::vector<DimSetting> recorded;  // dims of a placement, where no others are given

  bool any() const {
    return !dims.empty() || !values.empty() || !shapes.empty() || copy_shared || tear_patterns ||
           costs.any();
  }
};

void add_dim(Command& command, std::vector<std::string>& target);
void add_set(Command& command, std::vector<std::string>& target);
// --dim, --set and --shape.
void add_model_settings(Command& command, ModelOptions& options);
// Those, --copy-shared, --tear-patterns, --profile, --costs and --efficiencies.
void add_model_options(Command& command, ModelOptions& options);

// The file to read for `path`: of standard input ("-") and pipes, which can be read only once, one
// in memory with what they brought.
std::string input_path(const std::string& path);
// The same of a file that is opened by others than us, who say in their own words when it cannot be
// read. A Failure then.
std::string readable_path(const std::string& path);
// A message that names such files, with the caller's names in it, or begins with "-".
std::string as_given(std::string message);

// For a manifest that came through standard input or a pipe.
[[noreturn]] void fail_without_stages();

// Whether the file is an ONNX model, told by its content. False if it cannot be read.
bool is_onnx_input(const std::string& path);

// What a file of Placeto describes, which is_onnx_input may have read already.
AnySpec load_any(const std::string& path);

// A model with the run times that the options give it.
struct ModelGraph {
  GraphSpec spec;
  ImportReport report;
  std::vector<ProfileUse> profiles;
};

// A Failure if the model cannot be imported, dimensions lack a value, or costs do not fit it.
ModelGraph import_model(const std::string& path, const ModelOptions& options);

// "batch=1k". A Failure if it has not that form.
DimSetting dim_setting(const std::string& text);

// What the options say about a model. A Failure if one is malformed.
ModelSettings model_settings(const ModelOptions& options);

// The graph in a graph file of either form, or of an ONNX model. What could not be inferred of a
// model is said on standard error.
Graph load_graph(const std::string& path, const ModelOptions& options);

}  // namespace placeto::cli
