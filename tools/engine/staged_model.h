// The sessions of a split model, and the memory that passes between them.
//
// One session per stage. A tensor that a stage hands on is written by the engine straight into
// memory that the next session has bound as its input: nothing is copied. Where its shape is known
// before the run, that memory is taken once and bound once; where it is not, the engine allocates
// it in each run and the consumer binds what it made. Tensors between devices are in the host's
// memory; a session on another device moves them itself: outputs when it has run, inputs when they
// are bound, so that they are bound before each run.
//
// A slot is everything that one request in flight needs: memory for all of its tensors, and the
// bindings. Different slots may run at the same time, and so may different stages of one slot.
//
// No type of the engine appears here. In a build without ONNX Runtime, open fails and says so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/manifest_reader.h"
#include "tools/engine/tensor.h"
#include "tools/onnx/dim_setting.h"

namespace placeto {

// Loads the engine; any number of times, from any thread. Fails with kInvalidArgument, saying why,
// when this build has none, or its library is not found or older than the headers.
Status engine_status();
// "onnxruntime 1.30.0"; "" without an engine.
std::string engine_version();
// As the engine names them: "CPUExecutionProvider".
std::vector<std::string> engine_providers();

// Whether sessions on the device can have the provider: kInvalidArgument, as when they are opened.
Status check_provider(const std::string& provider, const std::string& device);

struct SessionSettings {
  // Per device of the manifest: cpu, cuda, ...; empty: all cpu.
  std::vector<std::string> providers = {};
  uint32_t threads = 1;  // of each session, for one operator
  uint32_t slots = 1;
  std::vector<DimSetting> dims = {};  // of symbolic axes of inputs
  bool optimize = true;               // false: for models that the engine has saved optimised
  std::string profile_prefix = {};    // "": no profile
};

// What a request gave back. Valid until the slot runs again.
struct TensorView {
  Element element = Element::kUndefined;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

class StagedModel {
 public:
  // Opens every session. Fails with kBadInput, naming the file, when the engine refuses one or it
  // does not read and make what the manifest lists, and with kInvalidArgument when an axis of an
  // input has no number or a provider is not there.
  static Result<std::unique_ptr<StagedModel>> open(const Manifest& manifest,
                                                   const std::string& directory,
                                                   const SessionSettings& settings);
  ~StagedModel();

  // The manifest; of a whole model, with the inputs and outputs that the session has.
  const Manifest& manifest() const;
  const std::vector<TensorInfo>& inputs() const;  // shapes are complete
  const std::vector<TensorInfo>& outputs() const;
  std::span<std::byte> input(uint32_t slot, size_t i);

  // Runs slot 0 once, stage by stage, on this thread: the engine loads what it loads late, shapes
  // become known, and slot 0 has outputs. Its inputs must be there; those of other slots become
  // equal to them.
  // Where the engine refuses them, it may be called again with others.
  Status prepare();

  // After prepare(). Inputs and stages before it must be done.
  Status run_stage(uint32_t slot, uint32_t stage);
  Result<TensorView> output(uint32_t slot, size_t i) const;

  // Types of all tensors that enter, leave, or pass between stages.
  std::vector<Element> elements() const;
  // Bytes of a tensor of the last request of slot 0, by name; 0 if there is none.
  uint64_t tensor_bytes(const std::string& name) const;
  // Whether the stage runs on a device beside the processor.
  bool runs_apart(uint32_t stage) const;
  // Whether all tensors that stages hand on have memory that was taken once.
  bool all_bound() const;

  // Ends profiling: a file per stage.
  Result<std::vector<std::string>> end_profiling();

 private:
  struct State;
  explicit StagedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Saves the model as the engine optimises it, with the axes set: what should be profiled, placed
// and split, because parts of it are not optimised again across cuts. For the processor with all
// that it has; else only as far as every provider can run the result, for the processor's layouts
// and fused operators have kernels nowhere else. `weights`: the name of the file beside it that
// gets them; "": they stay within the model, which must not have any outside.
Status save_optimized(const std::string& model, const std::string& out, const std::string& weights,
                      bool for_processor, std::span<const DimSetting> dims);

}  // namespace placeto
