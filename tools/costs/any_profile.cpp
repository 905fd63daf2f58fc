#include "tools/costs/any_profile.h"

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/costs/openvino_profile.h"
#include "tools/costs/tensorrt_profile.h"
#include "tools/io/byte_order_mark.h"

namespace placeto {

Result<Profile> parse_any_profile(std::string_view text, const ProfileLimits& limits) {
  text = without_byte_order_mark(text);
  if (looks_like_tensorrt_profile(text)) return parse_tensorrt_profile(text);
  if (looks_like_openvino_profile(text)) return parse_openvino_profile(text);
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '[') return parse_profile(text, limits);
  return Status::bad_input(
      "is no profile that is known, expected one of ONNX Runtime or of TensorRT's trtexec (JSON), "
      "or counters of OpenVINO's benchmark_app (CSV)");
}

Result<Profile> read_any_profile(const std::string& path, const ProfileLimits& limits) {
  const auto bytes = read_file(path, limits.max_bytes);
  if (!bytes.ok()) return bytes.status();
  return parse_any_profile(as_text(*bytes), limits).at(path);
}

}  // namespace placeto
