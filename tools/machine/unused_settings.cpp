#include "tools/machine/unused_settings.h"

#include <algorithm>

namespace placeto {
namespace {

bool has_latency(const TopologySpec& spec) {
  return spec.default_link.latency_us > 0 ||
         std::ranges::any_of(spec.links,
                             [](const LinkSpec& link) { return link.parameters.latency_us > 0; });
}

}  // namespace

std::vector<std::string> unused_settings(const Topology& topology) {
  const TopologySpec& spec = topology.spec();
  const bool broadcast = spec.transfer == Transfer::kBroadcast;
  std::vector<std::string> unused;
  if (broadcast && has_latency(spec)) {
    unused.emplace_back(
        "a link has a latency, which is charged under transfer 'unicast' only; this topology's "
        "transfer is 'broadcast'");
  }
  const bool names_channels =
      std::ranges::any_of(spec.links, [](const LinkSpec& link) { return !link.channel.empty(); });
  if (names_channels && (broadcast || spec.contention == Contention::kNone)) {
    unused.push_back(std::string("links name channels, which nothing shares under ") +
                     (broadcast ? "transfer 'broadcast': outputs leave by their device's egress"
                                : "contention 'none': transfers never wait"));
  }
  return unused;
}

}  // namespace placeto
