// What `placeto export` does with an ONNX model: files for ONNX Runtime. Names no protobuf type, so
// that code without libonnx can include it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/export/placed.h"
#include "tools/export/stages.h"
#include "tools/onnx/settings.h"

namespace placeto {

struct SplitSummary {
  struct Stage {
    std::string file, device;
    uint64_t nodes = 0, inputs = 0, outputs = 0;
  };
  std::vector<Stage> stages;
  uint32_t unused_nodes = 0;
};

// The placement with the names of the model's nodes, in the order in which import makes nodes of
// them: that of the model, without Constants, and with the branches that it was imported with in
// place of their If nodes (tools/onnx/prepare.h). Reads no weights; bytes of parameters are left 0.
// Fails with kBadInput when the placement, which messages call `file`, has not one entry for each.
Result<Placed> placed_model(const std::string& path, const PlacementSpec& placement,
                            const ModelSettings& settings = {},
                            const std::string& file = "the placement");

// What a node of a model is called and makes: engines name what they fuse after outputs, too.
struct ModelNode {
  std::string name, op;  // naming rule: tools/onnx/model.h
  std::vector<std::string> outputs;
};

// The files that a model's tensors take weights from, below the folders where ExternalFiles looks
// for them. None for what cannot be read.
std::vector<std::string> external_files(const std::string& path);

// The nodes of a model's main graph, Constants left out.
Result<std::vector<ModelNode>> model_nodes(const std::string& path);

// A model with a device for each of its nodes. In a build without libonnx, read fails and says so.
struct AnnotatedModel {
  std::string bytes;
  std::string setting;  // the value of session.layer_assignment_settings
};

class PlacedModel {
 public:
  // Reads the model, weights too. Its nodes take the devices of the nodes of their names (naming
  // rule: tools/onnx/model.h). Fails with kBadInput when the placement lacks a node of the model.
  static Result<PlacedModel> read(const std::string& path, const Placed& placed,
                                  const ModelSettings& settings = {});
  PlacedModel(PlacedModel&&) noexcept;
  PlacedModel& operator=(PlacedModel&&) noexcept;
  ~PlacedModel();

  // What was given to read(), with the inputs that the settings set.
  const Placed& placed() const;

  // The model with layer annotations, which it then keeps, to be written to `out`. Nothing else in
  // it changes; one with external data can only be written beside itself.
  Result<AnnotatedModel> annotated(const std::string& out, std::span<const std::string> engine);

  // Value of session.name_based_layer_assignment (name_rules.h), for all names in the model, those
  // in bodies of control flow included.
  Result<std::string> name_rules(std::span<const std::string> engine) const;

  // Writes one model per stage and manifest.json (manifest.h) into a new directory. Nodes are named
  // in their stages as in the graph (tools/onnx/model.h). External data is copied: each stage that
  // has some gets a file of its own. Without a rule, the stages are those recorded with the
  // placement; the fewest if it has none. kStopped, and nothing is left, once `interrupted` is set.
  Result<SplitSummary> write_stages(const std::string& directory, std::optional<StageRule> rule,
                                    const std::atomic<bool>* interrupted = nullptr) const;

 private:
  struct State;
  explicit PlacedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace placeto
