#include "runtime/policy/file/architecture.h"

#include "runtime/base/message.h"

namespace placeto {
namespace {

Status out_of_bounds(const std::string& place, uint64_t value, const std::string& expected) {
  return bad_input({place, " is ", value, ", expected ", expected});
}

Status check_bounds(const std::string& place, uint64_t value, uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return {};
  return out_of_bounds(place, value, std::to_string(least) + " to " + std::to_string(most));
}

Status check_hidden(const std::string& place, const std::vector<uint32_t>& widths, bool used) {
  if (!used && !widths.empty()) {
    return out_of_bounds("the number of entries of " + place, widths.size(),
                         "0: this architecture has no such network");
  }
  Status status =
      check_bounds("the number of entries of " + place, widths.size(), 0, kMaxHiddenLayers);
  for (size_t i = 0; status.ok() && i < widths.size(); ++i) {
    status = check_bounds(place + "[" + std::to_string(i) + "]", widths[i], 1, kMaxLayerWidth);
  }
  return status;
}

// Files of `placeto` from before directions were kept apart say nothing of them.
Status check_directions(uint32_t directions, uint32_t expected) {
  if (directions == expected) return {};
  return bad_input({"dimensions.directions is ", directions, ", expected ", expected,
                    expected == 0 ? ": this architecture mixes them"
                                  : ": policies that mix them have to be trained "
                                    "again"});
}

std::vector<uint32_t> widths(uint32_t inputs, const std::vector<uint32_t>& hidden,
                             uint32_t outputs) {
  std::vector<uint32_t> all{inputs};
  all.insert(all.end(), hidden.begin(), hidden.end());
  all.push_back(outputs);
  return all;
}

}  // namespace

std::optional<Architecture> find_architecture(std::string_view name) {
  if (name == "placeto") return Architecture::kPlaceto;
  if (name == "pairwise") return Architecture::kPairwise;
  return std::nullopt;
}

std::string_view name_of(Architecture architecture) {
  return architecture == Architecture::kPlaceto ? "placeto" : "pairwise";
}

uint32_t columns_of(Architecture architecture, const PolicyDimensions& dimensions,
                    std::string_view node_feature) {
  const bool one_hot = architecture == Architecture::kPlaceto && node_feature == "placed_on";
  return one_hot ? dimensions.devices : 1;
}

PolicyDimensions published_dimensions(uint32_t columns, uint32_t devices, uint32_t rounds) {
  PolicyDimensions dimensions = {.embedding = columns,
                                 .rounds = rounds,
                                 .devices = devices,
                                 .encoder_hidden = {columns, columns},
                                 .message_hidden = {columns},
                                 .pool_hidden = {2 * columns},
                                 .head_hidden = {16 * columns, 8 * columns},
                                 .directions = 2};
  if (rounds == 0) dimensions.message_hidden.clear();
  return dimensions;
}

Status check_dimensions(Architecture architecture, const PolicyDimensions& d, size_t node_features,
                        size_t pair_features) {
  const bool placeto = architecture == Architecture::kPlaceto;
  const bool graph_network = placeto || d.embedding > 0;
  const auto features = [](bool used, bool required) {
    return std::pair{required ? 1u : 0u, used ? kMaxFeatures : 0u};
  };
  const auto [node_least, node_most] = features(graph_network, graph_network);
  const auto [pair_least, pair_most] = features(!placeto, !placeto && !graph_network);
  const std::string where = "dimensions.";
  const Status all[] = {
      check_bounds(where + "embedding", d.embedding, placeto ? 1 : 0, kMaxLayerWidth),
      check_bounds(where + "rounds", d.rounds, 0, graph_network ? kMaxRounds : 0),
      check_bounds(where + "devices", d.devices, placeto ? 1 : 0, placeto ? kMaxLayerWidth : 0),
      check_hidden(where + "encoder_hidden", d.encoder_hidden, graph_network),
      check_hidden(where + "message_hidden", d.message_hidden, d.rounds > 0),
      check_hidden(where + "pool_hidden", d.pool_hidden, placeto),
      check_hidden(where + "head_hidden", d.head_hidden, true),
      check_hidden(where + "leap_hidden", d.leap_hidden, !placeto),
      check_directions(d.directions, placeto ? 2 : 0),
      check_bounds(where + "grid", d.grid, 0, placeto ? 0 : kMaxGrid),
      check_bounds("the number of node_features", node_features, node_least, node_most),
      check_bounds("the number of pair_features", pair_features, pair_least, pair_most),
  };
  for (const Status& status : all) {
    if (!status.ok()) return status;
  }
  return {};
}

std::vector<NetworkShape> networks_of(Architecture architecture, const PolicyDimensions& d,
                                      size_t node_features, size_t pair_features) {
  std::vector<NetworkShape> networks;
  const uint32_t e = d.embedding;
  const bool placeto = architecture == Architecture::kPlaceto;
  const auto add_f_and_g = [&](const std::string& name, uint32_t width,
                               const std::vector<uint32_t>& hidden) {
    networks.push_back({name + ".f", widths(width, hidden, width), placeto});
    networks.push_back({name + ".g", widths(width, hidden, width), placeto});
  };
  if (e > 0) {
    const auto inputs = static_cast<uint32_t>(node_features);
    networks.push_back({"encoder", widths(inputs, d.encoder_hidden, e)});
  }
  if (d.rounds > 0) {
    add_f_and_g("along", e, d.message_hidden);
    add_f_and_g("against", e, d.message_hidden);
  }
  if (placeto) {
    for (const char* set : {"ancestors", "descendants", "unrelated"}) {
      add_f_and_g(set, 2 * e, d.pool_hidden);
    }
    networks.push_back({"head", widths(8 * e, d.head_hidden, d.devices)});
  } else {
    const uint32_t inputs = e + static_cast<uint32_t>(pair_features);
    if (!d.leap_hidden.empty()) networks.push_back({"leap", widths(inputs, d.leap_hidden, 1)});
    networks.push_back({"head", widths(inputs, d.head_hidden, 1)});
  }
  return networks;
}

std::vector<TensorShape> tensors_of(const std::vector<NetworkShape>& networks) {
  std::vector<TensorShape> tensors;
  for (const NetworkShape& network : networks) {
    for (size_t i = 0; i + 1 < network.widths.size(); ++i) {
      const std::string layer = network.name + "." + std::to_string(i);
      tensors.push_back({layer + ".weight", {network.widths[i], network.widths[i + 1]}});
      tensors.push_back({layer + ".bias", {network.widths[i + 1]}});
    }
  }
  return tensors;
}

}  // namespace placeto
