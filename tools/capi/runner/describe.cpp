// Inputs, outputs and stages, as they are from the opening on.
#include <algorithm>

#include "tools/capi/runner/handle.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

static_assert(PLACETO_RUNNER_NO_TENSOR == static_cast<int>(Element::kUndefined));
static_assert(PLACETO_RUNNER_FLOAT32 == static_cast<int>(Element::kFloat));
static_assert(PLACETO_RUNNER_UINT8 == static_cast<int>(Element::kUint8));
static_assert(PLACETO_RUNNER_INT8 == static_cast<int>(Element::kInt8));
static_assert(PLACETO_RUNNER_UINT16 == static_cast<int>(Element::kUint16));
static_assert(PLACETO_RUNNER_INT16 == static_cast<int>(Element::kInt16));
static_assert(PLACETO_RUNNER_INT32 == static_cast<int>(Element::kInt32));
static_assert(PLACETO_RUNNER_INT64 == static_cast<int>(Element::kInt64));
static_assert(PLACETO_RUNNER_STRING == static_cast<int>(Element::kString));
static_assert(PLACETO_RUNNER_BOOL == static_cast<int>(Element::kBool));
static_assert(PLACETO_RUNNER_FLOAT16 == static_cast<int>(Element::kFloat16));
static_assert(PLACETO_RUNNER_FLOAT64 == static_cast<int>(Element::kDouble));
static_assert(PLACETO_RUNNER_UINT32 == static_cast<int>(Element::kUint32));
static_assert(PLACETO_RUNNER_UINT64 == static_cast<int>(Element::kUint64));
static_assert(PLACETO_RUNNER_BFLOAT16 == static_cast<int>(Element::kBfloat16));

const std::vector<TensorInfo>& inputs_of(const placeto_runner* runner) {
  return runner->runner->model().inputs();
}
const std::vector<TensorInfo>& outputs_of(const placeto_runner* runner) {
  return runner->runner->model().outputs();
}

uint32_t find(const std::vector<TensorInfo>& tensors, const char* name) {
  if (name == nullptr) return PLACETO_NONE;
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const TensorInfo& tensor) { return tensor.name == name; });
  return it == tensors.end() ? PLACETO_NONE : static_cast<uint32_t>(it - tensors.begin());
}

Status describe(const TensorInfo& tensor, const TensorTexts& texts, placeto_runner_tensor* to) {
  placeto_runner_tensor described = {};
  described.name = tensor.name.c_str();
  described.element = static_cast<int32_t>(tensor.element);
  described.rank = static_cast<uint32_t>(tensor.shape.size());
  described.element_name = texts.element_name.c_str();
  described.element_bytes = element_bytes(tensor.element);
  described.shape = tensor.shape.data();
  described.symbols = texts.symbols.data();
  return write_struct("placeto_runner_tensor", described, to);
}

}  // namespace

uint32_t placeto_runner_input_count(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : static_cast<uint32_t>(runner->inputs.size());
}
uint32_t placeto_runner_output_count(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : static_cast<uint32_t>(runner->outputs.size());
}

uint32_t placeto_runner_find_input(const placeto_runner* runner, const char* name) noexcept {
  return runner == nullptr ? PLACETO_NONE : find(inputs_of(runner), name);
}
uint32_t placeto_runner_find_output(const placeto_runner* runner, const char* name) noexcept {
  return runner == nullptr ? PLACETO_NONE : find(outputs_of(runner), name);
}

placeto_status placeto_runner_input_tensor(const placeto_runner* runner, uint32_t input,
                                           placeto_runner_tensor* to,
                                           placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{runner, "runner"}, {to, "to"}}); !s.ok()) return s;
    if (Status s = check_index("input", input, runner->inputs.size()); !s.ok()) return s;
    return describe(inputs_of(runner)[input], runner->inputs[input], to);
  });
}

placeto_status placeto_runner_output_tensor(const placeto_runner* runner, uint32_t output,
                                            placeto_runner_tensor* to,
                                            placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{runner, "runner"}, {to, "to"}}); !s.ok()) return s;
    if (Status s = check_index("output", output, runner->outputs.size()); !s.ok()) return s;
    return describe(outputs_of(runner)[output], runner->outputs[output], to);
  });
}

uint32_t placeto_runner_stage_count(const placeto_runner* runner) noexcept {
  return runner == nullptr ? 0 : static_cast<uint32_t>(runner->runner->manifest().stages.size());
}

placeto_status placeto_runner_get_stage(const placeto_runner* runner, uint32_t stage,
                                        placeto_runner_stage* to, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{runner, "runner"}, {to, "to"}}); !s.ok()) return s;
    const Manifest& manifest = runner->runner->manifest();
    if (Status s = check_index("stage", stage, manifest.stages.size()); !s.ok()) return s;
    const ManifestStage& from = manifest.stages[stage];
    placeto_runner_stage described = {};
    described.device = manifest.devices[from.device].c_str();
    described.file = from.file.c_str();
    described.node_count = from.nodes;
    described.predicted_us = from.predicted_us;
    return write_struct("placeto_runner_stage", described, to);
  });
}
