// manifest.json of a split model, read back: what the runner needs to run its stages. The format is
// described where it is written, tools/export/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/tensor.h"
#include "tools/export/from_caller.h"
#include "tools/onnx/dim_setting.h"
#include "tools/onnx/settings.h"

namespace placeto {

// A tensor that enters or leaves a stage or the model.
struct ManifestTensor {
  std::string name;
  uint32_t stage = kFromCaller;  // that makes it
};

struct ManifestStage {
  std::string file;
  uint32_t device = 0;  // index into Manifest::devices
  uint32_t nodes = 0;
  std::vector<ManifestTensor> inputs;
  std::vector<std::string> outputs;
  std::vector<uint32_t> after;  // stages that must have finished
  double predicted_us = 0;      // its time on the device, prices of cuts included; 0: not known
  double predicted_start_us = 0;
};

struct Manifest {
  std::string model, graph, topology;
  std::vector<std::string> devices;
  std::vector<ManifestTensor> inputs, outputs;
  std::vector<ManifestStage> stages;
  std::vector<uint32_t> order;       // all stages; each device takes its own in this order
  double predicted_makespan_us = 0;  // 0: not known
  std::vector<TensorInfo> declared;  // the inputs; kUndefined without a type or a shape
  bool has_shapes = true;            // of all of them
  std::vector<DimSetting> dims;      // that it was placed with; may be absent in the files
  std::vector<InputSetting> set;     // inputs of the whole model that the stages do not have
  double predicted_whole_us = 0;     // of the whole model on a processor; 0: not known
};

// Fails with kBadInput, naming the field, when it is not such a file, has no device or no stage,
// two make the same tensor, a stage reads what the named stage does not make, or `order` runs a
// stage before one it reads from.
Result<Manifest> parse_manifest(std::string_view text);

// Whether the file begins as JSON does: a manifest then, if it is not a placement, and no model.
bool holds_json(const std::string& path);

// Whether the file, or the one in the directory, is what `export --split` wrote, be it in order or
// not: the stages of a placement are numbers, and it has no model.
bool is_manifest(const std::string& path);

// `path` is the file or the directory it is in; `directory` is where the stages' files are.
Result<Manifest> read_manifest(const std::string& path, std::string& directory);

// A model that is not split, as a manifest of one stage. Its inputs and outputs are those of the
// file, which the runner asks the engine for.
Manifest whole_model(const std::string& file, const std::string& device);
// Whether it is one: its inputs and outputs are not known before it is open.
inline bool is_whole(const Manifest& manifest) {
  return manifest.outputs.empty();
}

}  // namespace placeto
