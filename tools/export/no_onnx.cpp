// onnx_export.h in a build without libonnx.
#include "tools/export/onnx_export.h"
#include "tools/onnx/import.h"

namespace placeto {
namespace {

Status absent(const std::string& path) {
  return import_onnx(path, {}).status();  // which says what is missing
}

}  // namespace

struct PlacedModel::State {};

PlacedModel::PlacedModel(PlacedModel&&) noexcept = default;
PlacedModel& PlacedModel::operator=(PlacedModel&&) noexcept = default;
PlacedModel::~PlacedModel() = default;

Result<Placed> placed_model(const std::string& path, const PlacementSpec&, const ModelSettings&,
                            const std::string&) {
  return absent(path);
}

std::vector<std::string> external_files(const std::string&) {
  return {};
}

Result<std::vector<ModelNode>> model_nodes(const std::string& path) {
  return absent(path);
}

Result<PlacedModel> PlacedModel::read(const std::string& path, const Placed&,
                                      const ModelSettings&) {
  return absent(path);
}

// There is no object to call these on.
const Placed& PlacedModel::placed() const {
  static const Placed kNone;
  return kNone;
}

Result<AnnotatedModel> PlacedModel::annotated(const std::string& out,
                                              std::span<const std::string>) {
  return absent(out);
}

Result<std::string> PlacedModel::name_rules(std::span<const std::string>) const {
  return absent("model");
}

Result<SplitSummary> PlacedModel::write_stages(const std::string& directory,
                                               std::optional<StageRule>,
                                               const std::atomic<bool>*) const {
  return absent(directory);
}

}  // namespace placeto
