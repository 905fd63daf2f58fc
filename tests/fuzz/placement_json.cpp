// Placement files in JSON: recognised, read, and written again.
#include "runtime/format/placement_file.h"
#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {

int fuzz_placement_json(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const std::string_view text = as_text(bytes);
  (void)looks_like_json(text);
  (void)detect_json(text);
  const auto spec = read_json(text, FileKind::kPlacement, decode_placement);
  if (!spec.ok()) return 0;
  check_json_round_trip(*spec, FileKind::kPlacement, encode_placement, decode_placement);
  return 1;
}

}  // namespace placeto::fuzz
