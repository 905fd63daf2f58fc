// The fastest of many short measurements is partly luck, so those that may be handed out are run
// again and longer. That may make the best slower than another was once: what was faster is run
// again, too, until nothing is that was not.
#include "tools/tune/confirm.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace placeto {
namespace {

using Contenders = std::span<const std::unique_ptr<Runnable>>;

constexpr size_t kFastest = 3;

std::vector<size_t> by_time(Contenders contenders) {
  std::vector<size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return contenders[a]->info.over_whole < contenders[b]->info.over_whole;
  });
  return order;
}

// The fastest, and what they must not be worse than.
std::set<size_t> wanted_first(Contenders contenders, std::span<const size_t> order,
                              const Runnable* one_device) {
  const auto fastest = order.first(std::min(kFastest, order.size()));
  std::set<size_t> wanted(fastest.begin(), fastest.end());
  for (size_t i = 0; i < contenders.size(); ++i) {
    const bool engine = contenders[i]->info.way == Contender::Way::kEngine;
    if (engine || contenders[i].get() == one_device) wanted.insert(i);
  }
  return wanted;
}

// What was faster in its short runs than the best of the confirmed is now.
std::set<size_t> faster_once(Contenders contenders, const std::set<size_t>& confirmed) {
  double least = std::numeric_limits<double>::infinity();
  for (const size_t i : confirmed) least = std::min(least, contenders[i]->info.over_whole);
  std::set<size_t> faster;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (!confirmed.contains(i) && contenders[i]->info.over_whole < least) faster.insert(i);
  }
  return faster;
}

}  // namespace

Result<std::vector<size_t>> confirm(const TuneOptions& options, Contenders contenders,
                                    const Runnable* one_device, StagedModel& whole,
                                    double whole_us) {
  std::set<size_t> wanted = wanted_first(contenders, by_time(contenders), one_device);
  std::set<size_t> confirmed;
  while (!wanted.empty()) {
    std::vector<Runnable*> turn;
    for (const size_t i : wanted) turn.push_back(contenders[i].get());
    if (Status s = run_contenders(options, turn, whole, whole_us, 2 * options.runs); !s.ok()) {
      return s;
    }
    confirmed.merge(wanted);
    wanted = faster_once(contenders, confirmed);
  }
  return std::vector<size_t>(confirmed.begin(), confirmed.end());
}

}  // namespace placeto
