#include "tools/engine/tuned_choice.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/io/bounded_json.h"

namespace placeto {
namespace {

std::string path_in(const std::string& directory) {
  return directory + "/tune.json";
}

}  // namespace

Result<TunedChoice> read_choice(const std::string& directory) {
  const std::string path = path_in(directory);
  const auto bytes = read_file(path, 64 << 20);
  if (!bytes.ok()) return bytes.status();
  const auto parsed = parse_bounded<nlohmann::json>(as_text(*bytes), 1'000'000);
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
    choice.providers.emplace_back(device, provider.get<std::string>());
  }
  return choice;
}

Status complete_choice(const Manifest& manifest, const std::string& directory, RunChoice& choice) {
  TunedChoice tuned;
  std::error_code error;
  if (!is_whole(manifest) && std::filesystem::exists(path_in(directory), error)) {
    Result<TunedChoice> read = read_choice(directory);
    if (!read.ok()) return read.status();
    tuned = *std::move(read);
  }
  choice.tuned = tuned.name;
  if (choice.threads == 0) choice.threads = tuned.threads;
  if (choice.replicas == 0) choice.replicas = std::max(1u, tuned.replicas);
  choice.providers.resize(manifest.devices.size());
  for (auto& [device, provider] : tuned.providers) {
    const auto found = std::find(manifest.devices.begin(), manifest.devices.end(), device);
    if (found == manifest.devices.end()) continue;
    std::string& open = choice.providers[static_cast<size_t>(found - manifest.devices.begin())];
    if (open.empty()) open = std::move(provider);
  }
  return {};
}

}  // namespace placeto
