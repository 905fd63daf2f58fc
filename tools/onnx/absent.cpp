// import.h in a build without libonnx.
#include "tools/onnx/import.h"

namespace placeto {

static Status absent() {
  return Status::invalid(
      "this build of placeto reads no ONNX models: it was configured without libonnx (Debian: "
      "libonnx-dev libprotobuf-dev)");
}

bool have_onnx() {
  return false;
}

Result<ImportedGraph> import_onnx(const std::string& path, const ImportOptions&) {
  return absent().at(path);
}

Result<ImportedGraph> import_onnx(std::span<const uint8_t>, const std::string&,
                                  const ImportOptions&) {
  return absent();
}

bool rounds_to_steps(const std::string&) {
  return false;
}

Status check_dimensions(const std::string&, const ModelSettings&) {
  return {};
}

}  // namespace placeto
