#include "trainer/published/episode_exchange.h"

namespace placeto::train {

std::pair<uint32_t, uint32_t> own_episodes(const Hosts* hosts, uint32_t episodes) {
  return hosts != nullptr ? hosts->share(episodes) : std::pair{0u, episodes};
}

Status exchange_costs(Hosts& hosts, Round& round, std::vector<EpisodeGroup>& groups) {
  const auto rollouts = static_cast<uint32_t>(groups.front().episodes.size());
  const uint32_t episodes = static_cast<uint32_t>(groups.size()) * rollouts;
  const auto [first, last] = own_episodes(&hosts, episodes);
  for (uint32_t i = first; i < last; ++i) {
    const Episode& e = groups[i / rollouts].episodes[i % rollouts];
    put(e.cost, round.records);
    put(std::vector<double>{e.best_cost}, round.records);
  }
  const Result<std::vector<std::string>> all = exchange_round(hosts, round);
  if (!all.ok()) return all.status();
  uint32_t i = 0;
  for (const std::string& bytes : *all) {
    for (std::string_view left = bytes; !left.empty(); ++i) {
      std::vector<double> cost, best;
      if (!get(cost, left) || !get(best, left) || cost.empty() || best.size() != 1 ||
          i == episodes) {
        return Status::io("costs of another host are damaged");
      }
      if (i >= first && i < last) continue;
      Episode& e = groups[i / rollouts].episodes[i % rollouts];
      e.node.assign(cost.size() - 1, 0);
      e.cost = std::move(cost);
      e.best_cost = best[0];
    }
  }
  return i == episodes ? Status{} : Status::io("costs of another host are missing");
}

}  // namespace placeto::train
