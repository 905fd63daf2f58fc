#include "tools/engine/tuned_choice.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/format/file.h"
#include "tools/io/bounded_json.h"

namespace placeto {
namespace {

std::string path_in(const std::string& directory) {
  return directory + "/tune.json";
}

}  // namespace

bool is_tuned(const std::string& directory) {
  std::error_code error;
  return std::filesystem::exists(path_in(directory), error);
}

Result<TunedChoice> read_choice(const std::string& directory) {
  const std::string path = path_in(directory);
  const auto bytes = read_file(path, 64 << 20);
  if (!bytes.ok()) return bytes.status();
  const auto parsed = parse_bounded<nlohmann::json>(
      {reinterpret_cast<const char*>(bytes->data()), bytes->size()}, 1'000'000);
  if (!parsed.ok()) return parsed.status().at(path);
  const nlohmann::json& report = *parsed;
  const auto number = [](const nlohmann::json& object, const char* key, uint32_t& out) {
    const auto it = object.find(key);
    if (it == object.end() || !it->is_number_unsigned() || it->get<uint64_t>() > 1024) return false;
    out = it->get<uint32_t>();
    return true;
  };
  TunedChoice choice;
  const bool known = report.is_object() && report.contains("chosen") &&
                     report["chosen"].is_object() && report["chosen"].contains("name") &&
                     report["chosen"]["name"].is_string();
  if (!known || !number(report["chosen"], "threads", choice.threads) ||
      !number(report["chosen"], "replicas", choice.replicas) ||
      !number(report["chosen"], "stages", choice.stages)) {
    return Status::bad_input(path + ": expected what tune writes, with \"chosen\"");
  }
  choice.name = report["chosen"]["name"].get<std::string>();
  const auto providers = report.find("providers");
  if (providers == report.end()) return choice;
  if (!providers->is_object()) return Status::bad_input(path + ": providers: expected an object");
  for (const auto& [device, provider] : providers->items()) {
    if (!provider.is_string()) {
      return Status::bad_input(path + ": providers." + device + ": expected a provider's name");
    }
    choice.providers.push_back(device + "=" + provider.get<std::string>());
  }
  return choice;
}

}  // namespace placeto
