#include "trainer/train/export.h"

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/pairwise/features.h"

namespace placeto::train {

Result<std::vector<uint8_t>> export_policy(PolicySpec spec, const Config& config,
                                           std::string_view config_text, uint64_t examples) {
  spec.provenance = {{config.data.set},        config.seed, examples, PLACETO_VERSION_TEXT,
                     std::string(config_text), ""};
  return encode_policy(spec);
}

Result<std::shared_ptr<const Policy>> load_exported(std::span<const uint8_t> bytes) {
  return Policy::load(bytes, Policy::Bytes::kCopy, known_features());
}

}  // namespace placeto::train
