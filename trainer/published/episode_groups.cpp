#include "trainer/published/episode_groups.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "trainer/published/episode_exchange.h"

namespace placeto::train {

Totals total(const std::vector<EpisodeGroup>& groups) {
  Totals totals;
  double episodes = 0;
  for (const EpisodeGroup& group : groups) episodes += double(group.episodes.size());
  for (const EpisodeGroup& group : groups) {
    for (const Episode& e : group.episodes) {
      totals.steps += e.steps();
      totals.last_cost += e.cost.back() / episodes;
      totals.best_cost += e.best_cost / episodes;
      totals.decrease += (e.cost.front() - e.cost.back()) / episodes;
    }
  }
  return totals;
}

void find_advantages(std::vector<EpisodeGroup>& groups, const Config& config, Baseline& baseline) {
  const bool published = config.algorithm == "reinforce";
  double squares = 0, count = 0;
  for (EpisodeGroup& group : groups) {
    std::vector<std::vector<float>> returns;
    for (const Episode& e : group.episodes) returns.push_back(e.returns());
    if (!published) {
      group.advantages = group_advantages(returns);
    } else {
      const uint32_t key = group.course * uint32_t(std::size(kStarts)) + uint32_t(group.start);
      for (const auto& r : returns) group.advantages.push_back(baseline.advantages(key, r));
      for (auto& r : returns) baseline.add(key, std::move(r));
    }
    for (const auto& list : group.advantages) {
      for (const float a : list) squares += double(a) * double(a);
      count += double(list.size());
    }
  }
  // `group` scales the advantages of an iteration to unit variance: what is left to gain shrinks
  // as a policy improves, and steps should not.
  const double scale =
      published ? config.episodes.reward_scale : 1 / std::sqrt(std::max(1e-12, squares / count));
  for (EpisodeGroup& group : groups) {
    for (auto& list : group.advantages) {
      for (float& a : list) a *= static_cast<float>(scale);
    }
  }
}

Status scale_gains(std::vector<EpisodeGroup>& groups, Hosts* hosts) {
  std::vector<double> sums(2);  // of squares; of those that are not 0
  const auto visit = [&](auto action) {
    for (EpisodeGroup& group : groups) {
      for (Episode& e : group.episodes) {
        for (float& gain : e.gains) action(gain);
      }
    }
  };
  visit([&](float gain) {
    sums[0] += double(gain) * double(gain);
    sums[1] += gain != 0 ? 1 : 0;
  });
  if (Status s = sum_over_hosts(hosts, sums); !s.ok()) return s;
  if (sums[0] <= 0) return {};
  const auto scale = static_cast<float>(std::sqrt(sums[1] / sums[0]));
  visit([scale](float& gain) { gain *= scale; });
  return {};
}

}  // namespace placeto::train
