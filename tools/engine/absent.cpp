// In a build without ONNX Runtime.
#include "tools/devices/providers.h"
#include "tools/engine/staged_model.h"

namespace placeto {

Status engine_status() {
  return Status::invalid(
      "this placeto was built without ONNX Runtime, so it runs no models (Debian 13: "
      "libonnxruntime-dev; elsewhere tools/engine/fetch.sh and -DONNXRUNTIME_ROOT)");
}
std::string engine_version() {
  return "";
}
std::vector<std::string> engine_providers() {
  return {};
}

Status check_provider(const std::string& provider, const std::string&) {
  return provider_named(provider) == "cpu" ? Status() : engine_status();
}

struct StagedModel::State {};
StagedModel::StagedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
StagedModel::~StagedModel() = default;

Result<std::unique_ptr<StagedModel>> StagedModel::open(const Manifest&, const std::string&,
                                                       const SessionSettings&) {
  return engine_status();
}

// None of these can be reached: there is no object.
const Manifest& StagedModel::manifest() const {
  static const Manifest kNone;
  return kNone;
}
const std::vector<TensorInfo>& StagedModel::inputs() const {
  static const std::vector<TensorInfo> kNone;
  return kNone;
}
const std::vector<TensorInfo>& StagedModel::outputs() const {
  return inputs();
}
std::span<std::byte> StagedModel::input(uint32_t, size_t) {
  return {};
}
Status StagedModel::prepare() {
  return engine_status();
}
Status StagedModel::run_stage(uint32_t, uint32_t) {
  return engine_status();
}
Result<TensorView> StagedModel::output(uint32_t, size_t) const {
  return engine_status();
}
std::vector<Element> StagedModel::elements() const {
  return {};
}
uint64_t StagedModel::tensor_bytes(const std::string&) const {
  return 0;
}
bool StagedModel::runs_apart(uint32_t) const {
  return false;
}
bool StagedModel::all_bound() const {
  return false;
}
Result<std::vector<std::string>> StagedModel::end_profiling() {
  return engine_status();
}

Status save_optimized(const std::string&, const std::string&, const std::string&, bool,
                      std::span<const DimSetting>) {
  return engine_status();
}

}  // namespace placeto
