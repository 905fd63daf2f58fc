// The fastest of many short measurements is partly luck, so those that may be handed out are run
// again and longer. That may make the best slower than another was once: what was faster is run
// again, too, until nothing is that was not.
#include "tools/tune/confirm.h"

#include <algorithm>
#include <limits>
#include <set>

namespace placeto {
namespace {

using Contenders = std::span<const std::unique_ptr<Runnable>>;

constexpr size_t kFastest = 3;

using Indices = std::span<const size_t>;

std::vector<size_t> by_time(Contenders contenders, Indices eligible) {
  std::vector<size_t> order(eligible.begin(), eligible.end());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return contenders[a]->info.over_whole < contenders[b]->info.over_whole;
  });
  return order;
}

// The fastest, and what they must not be worse than.
std::set<size_t> wanted_first(Contenders contenders, Indices eligible, const Runnable* one_device) {
  const std::vector<size_t> order = by_time(contenders, eligible);
  const auto fastest = Indices(order).first(std::min(kFastest, order.size()));
  std::set<size_t> wanted(fastest.begin(), fastest.end());
  for (const size_t i : eligible) {
    const bool engine = contenders[i]->info.way == Contender::Way::kEngine;
    if (engine || contenders[i].get() == one_device) wanted.insert(i);
  }
  return wanted;
}

// What was faster in its short runs than the best of the confirmed is now.
std::set<size_t> faster_once(Contenders contenders, Indices eligible,
                             const std::set<size_t>& confirmed) {
  double least = std::numeric_limits<double>::infinity();
  for (const size_t i : confirmed) least = std::min(least, contenders[i]->info.over_whole);
  std::set<size_t> faster;
  for (const size_t i : eligible) {
    if (!confirmed.contains(i) && contenders[i]->info.over_whole < least) faster.insert(i);
  }
  return faster;
}

}  // namespace

Result<std::vector<size_t>> confirm(const TuneOptions& options, Contenders contenders,
                                    Indices eligible, const Runnable* one_device,
                                    StagedModel& whole, double whole_us) {
  std::set<size_t> wanted = wanted_first(contenders, eligible, one_device);
  std::set<size_t> confirmed;
  while (!wanted.empty()) {
    std::vector<Runnable*> turn;
    for (const size_t i : wanted) turn.push_back(contenders[i].get());
    if (Status s = run_contenders(options, turn, whole, whole_us, 2 * options.runs); !s.ok()) {
      return s;
    }
    confirmed.merge(wanted);
    wanted = faster_once(contenders, eligible, confirmed);
  }
  return std::vector<size_t>(confirmed.begin(), confirmed.end());
}

}  // namespace placeto
