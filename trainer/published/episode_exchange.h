// What hosts that train a `placeto` policy together tell each other: costs along episodes, and
// sums. Steps, which are large, are learned from where they were taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/base/bytes.h"
#include "trainer/published/episode_groups.h"
#include "trainer/train/distributed.h"

namespace placeto::train {

// Of all episodes, counted through the groups, those that this host runs: first and one past the
// last. All if `hosts` is null.
std::pair<uint32_t, uint32_t> own_episodes(const Hosts* hosts, uint32_t episodes);

// Fills in the costs of the episodes of other hosts: all that advantages need. All groups have as
// many episodes. `round` has this host's state and whether it is to stop, then whether any is.
Status exchange_costs(Hosts& hosts, Round& round, std::vector<EpisodeGroup>& groups);

// Replaces the numbers by the sums over all hosts; leaves them if `hosts` is null.
template <class T>
Status sum_over_hosts(Hosts* hosts, std::vector<T>& numbers) {
  if (hosts == nullptr) return {};
  std::string mine;
  put(numbers, mine);
  const Result<std::vector<std::string>> all = hosts->exchange(mine);
  if (!all.ok()) return all.status();
  std::vector<T> sum(numbers.size(), 0), part;
  for (const std::string& bytes : *all) {
    std::string_view left = bytes;
    if (!get(part, left) || part.size() != sum.size()) {
      return Status::io("numbers of another host are damaged");
    }
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  }
  numbers = std::move(sum);
  return {};
}

}  // namespace placeto::train
