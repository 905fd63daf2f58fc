#include "trainer/train/export.h"

#include <filesystem>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"

namespace placeto::train {

// One's own graphs by the files or patterns that name them, without their folders: as many as a
// line has room for, and how many more there are.
static std::string workload_of(const DataConfig& data) {
  if (data.graphs.empty()) return data.set;
  constexpr size_t kRoom = 160;
  std::string text = "own graphs: ";
  size_t named = 0;
  for (; named < data.graphs.size(); ++named) {
    const std::string name = std::filesystem::path(data.graphs[named]).filename().string();
    if (text.size() + name.size() > kRoom) break;
    text += (named == 0 ? "" : ", ") + name;
  }
  const std::string more = std::to_string(data.graphs.size() - named);
  if (named == data.graphs.size()) return text;
  return text + (named == 0 ? more : " and " + more + " more");
}

Result<std::vector<uint8_t>> export_policy(PolicySpec spec, const Config& config,
                                           std::string_view config_text, uint64_t examples) {
  spec.provenance = {
      {workload_of(config.data)},           config.seed, examples, PLACETO_VERSION_TEXT,
      text_for_others(config, config_text), ""};
  return encode_policy(spec);
}

Result<std::shared_ptr<const Policy>> load_exported(std::span<const uint8_t> bytes) {
  return Policy::load(bytes, Policy::Bytes::kCopy, known_features());
}

}  // namespace placeto::train
