#include "tools/cli/inspect_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/report/table.h"

namespace placeto::cli {
namespace {

std::string hex(const Sha256Digest& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

// "28 -> 48 -> 48 -> 1"
std::string widths(const Mlp& mlp) {
  std::string text = std::to_string(mlp.inputs());
  for (const DenseLayer& layer : mlp.layers()) text += fmt::format(" -> {}", layer.outputs);
  return text;
}

Json describe(std::span<const PolicyFeature> features) {
  Json list = Json::array();
  for (const PolicyFeature& f : features) {
    list.push_back({{"name", f.name}, {"shift", f.shift}, {"scale", f.scale}});
  }
  return list;
}

std::string feature_table(std::span<const PolicyFeature> features, const char* heading) {
  if (features.empty()) return "";
  Table table({{heading, Align::kLeft}, {"shift", Align::kRight}, {"scale", Align::kRight}});
  for (const PolicyFeature& f : features) {
    table.add_row({f.name, fmt::format("{:.5g}", f.shift), fmt::format("{:.5g}", f.scale)});
  }
  return "\n" + table.render();
}

}  // namespace

Json describe(const Policy& policy) {
  Json networks = Json::array();
  for (const Policy::Network& network : policy.networks()) {
    Json layers = Json::array({network.mlp.inputs()});
    for (const DenseLayer& layer : network.mlp.layers()) layers.push_back(layer.outputs);
    networks.push_back({{"name", network.name}, {"widths", std::move(layers)}});
  }
  const PolicyProvenance& from = policy.provenance();
  return {{"kind", "policy"},
          {"architecture", std::string(name_of(policy.architecture()))},
          {"devices", policy.dimensions().devices},
          {"embedding", policy.dimensions().embedding},
          {"rounds", policy.dimensions().rounds},
          {"grid", policy.dimensions().grid},
          {"networks", std::move(networks)},
          {"node_features", describe(policy.node_features())},
          {"pair_features", describe(policy.pair_features())},
          {"parameters", policy.parameter_count()},
          {"file_bytes", policy.file_bytes()},
          {"sha256", hex(policy.sha256())},
          {"provenance",
           {{"workloads", from.workloads},
            {"seed", from.seed},
            {"steps", from.steps},
            {"trainer_version", from.trainer_version},
            {"date", from.date},
            {"config", from.config}}}};
}

std::string summarize(const Policy& policy) {
  const PolicyProvenance& from = policy.provenance();
  Table sheet({{"", Align::kLeft}, {"", Align::kLeft, true}});
  sheet.add_row({"policy", std::string(name_of(policy.architecture()))});
  sheet.add_row({"devices", policy.dimensions().devices == 0
                                ? "any number"
                                : std::to_string(policy.dimensions().devices)});
  for (const Policy::Network& network : policy.networks()) {
    sheet.add_row({network.name, widths(network.mlp)});
  }
  if (policy.dimensions().embedding > 0) {
    sheet.add_row({"rounds", std::to_string(policy.dimensions().rounds)});
  }
  if (const uint32_t grid = policy.dimensions().grid; grid > 0) {
    sheet.add_row({"sums", fmt::format("exact, activations in steps of 1/{}", 1u << grid)});
  }
  sheet.add_row({"parameters", format_count(policy.parameter_count())});
  sheet.add_row({"size", format_bytes(policy.file_bytes())});
  sheet.add_row({"sha256", hex(policy.sha256())});
  sheet.add_row({"trained on", fmt::format("{}", fmt::join(from.workloads, ", "))});
  sheet.add_row({"seed", std::to_string(from.seed)});
  sheet.add_row({"steps", format_count(from.steps)});
  sheet.add_row({"trainer", from.trainer_version});
  if (!from.date.empty()) sheet.add_row({"date", from.date});
  return sheet.render() + feature_table(policy.node_features(), "node feature") +
         feature_table(policy.pair_features(), "pair feature");
}

}  // namespace placeto::cli
