#include "tools/export/neutral.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/graph/text.h"
#include "tools/io/json_escapes.h"
#include "tools/io/json_text.h"

namespace placeto {
namespace {
using Json = nlohmann::ordered_json;
}

Result<std::string> neutral_json(const Placed& placed) {
  Json nodes = Json::object();
  std::vector<Json> nodes_on(placed.devices.size(), Json::array());
  std::set<std::string_view> seen;
  for (const PlacedNode& node : placed.nodes) {
    if (!seen.insert(node.name).second) {
      return Status::invalid("two nodes are called " + placeto::in_quotes(node.name) +
                             ", expected distinct names");
    }
    // Past ordered_json's own search for the key, which is linear.
    nodes.get_ref<Json::object_t&>().emplace_back(node.name, placed.devices[node.device]);
    nodes_on[node.device].push_back(node.name);
  }
  Json devices = Json::object();
  for (size_t d = 0; d < nodes_on.size(); ++d) devices[placed.devices[d]] = std::move(nodes_on[d]);
  Json object;
  object["graph"] = placed.graph;
  object["topology"] = placed.topology;
  object["devices"] = std::move(devices);
  object["nodes"] = std::move(nodes);
  return with_escapes(json_text(object, 1)) + "\n";
}

}  // namespace placeto
