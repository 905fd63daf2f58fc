#include "trainer/published/siblings.h"

#include <cmath>

#include "trainer/base/bytes.h"

namespace placeto::train {
namespace {

template <class T>
Status sum(Hosts* hosts, std::vector<T>& numbers) {
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

}  // namespace

std::vector<std::vector<float>> returns_of(const Siblings& siblings, double discount) {
  std::vector<std::vector<float>> returns;
  for (const Episode& e : siblings.episodes) returns.push_back(e.returns(discount));
  return returns;
}

void scale_advantages(std::vector<Siblings>& all, double factor) {
  for (Siblings& siblings : all) {
    for (auto& list : siblings.advantages) {
      for (float& a : list) a *= static_cast<float>(factor);
    }
  }
}

Totals total(const std::vector<Siblings>& all) {
  Totals totals;
  double episodes = 0;
  for (const Siblings& siblings : all) episodes += double(siblings.episodes.size());
  for (const Siblings& siblings : all) {
    for (const Episode& e : siblings.episodes) {
      totals.steps += e.steps();
      totals.last_cost += e.cost.back() / episodes;
      totals.best_cost += e.best_cost / episodes;
      totals.decrease += (e.cost.front() - e.cost.back()) / episodes;
    }
  }
  return totals;
}

Status scale_gains(std::vector<Siblings>& all, Run& run) {
  std::vector<double> sums(2);  // of squares; of those that are not 0
  const auto visit = [&](auto action) {
    for (Siblings& siblings : all) {
      for (Episode& e : siblings.episodes) {
        for (float& gain : e.gains) action(gain);
      }
    }
  };
  visit([&](float gain) {
    sums[0] += double(gain) * double(gain);
    sums[1] += gain != 0 ? 1 : 0;
  });
  if (Status s = sum(run.options.hosts, sums); !s.ok()) return s;
  if (sums[0] <= 0) return {};
  const auto scale = static_cast<float>(std::sqrt(sums[1] / sums[0]));
  visit([scale](float& gain) { gain *= scale; });
  return {};
}

Status exchange_costs(Run& run, std::vector<Siblings>& all) {
  if (run.options.hosts == nullptr) return {};
  const auto rollouts = static_cast<uint32_t>(all.front().episodes.size());
  const uint32_t episodes = static_cast<uint32_t>(all.size()) * rollouts;
  const auto [first, last] = run.share(episodes);
  std::string mine;
  for (uint32_t i = first; i < last; ++i) {
    const Episode& e = all[i / rollouts].episodes[i % rollouts];
    put(e.cost, mine);
    put(std::vector<double>{e.best_cost}, mine);
  }
  const Result<std::vector<std::string>> everybody = run.exchange(std::move(mine));
  if (!everybody.ok()) return everybody.status();
  uint32_t i = 0;
  for (const std::string& bytes : *everybody) {
    for (std::string_view left = bytes; !left.empty(); ++i) {
      std::vector<double> cost, best;
      if (!get(cost, left) || !get(best, left) || cost.empty() || best.size() != 1 ||
          i == episodes) {
        return Status::io("costs of another host are damaged");
      }
      if (i >= first && i < last) continue;
      Episode& e = all[i / rollouts].episodes[i % rollouts];
      e.node.assign(cost.size() - 1, 0);
      e.cost = std::move(cost);
      e.best_cost = best[0];
    }
  }
  return i == episodes ? Status{} : Status::io("costs of another host are missing");
}

Status sum_over_hosts(const Run& run, std::vector<float>& numbers) {
  return sum(run.options.hosts, numbers);
}

}  // namespace placeto::train
