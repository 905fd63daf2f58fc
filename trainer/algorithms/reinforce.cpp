// `reinforce`: the published training of a `placeto` policy (Addanki et al., section 3.3 and the
// appendix on training).
//
// An iteration samples episodes by the policy: passes over a graph drawn from the training set. The
// reward of a step is the decrease of makespan that it causes; its advantage is the undiscounted
// return from there on minus a baseline per step index, the mean return at that index over recent
// episodes. Graphs of a training set differ in size and in what there is to gain, so each graph has
// baselines of its own (per kind of start, too). Then some steps of Adam, each on its share of the
// episodes, up the gradient of
//   log pi(a) A      mean over the steps of the episodes
//   entropy          of pi, times a weight that decays
// and of nothing else, unless the configuration asks for it (all_action).
#include "trainer/algorithms/reinforce.h"

#include <algorithm>

#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/bytes.h"
#include "trainer/published/algorithm.h"
#include "trainer/published/training.h"

namespace placeto::train {

std::vector<float> Baseline::advantages(uint32_t key, const std::vector<float>& returns) const {
  const auto it = recent_.find(key);
  // Who changes a graph, or how many passes there are, in the midst of a run begins anew.
  const auto as_long = [&](const std::vector<float>& past) {
    return past.size() == returns.size();
  };
  const auto known = it == recent_.end() ? 0 : std::ranges::count_if(it->second, as_long);
  if (known == 0) return std::vector<float>(returns.size(), 0.0f);
  std::vector<float> advantages(returns);
  const auto count = static_cast<float>(known);
  for (const std::vector<float>& past : it->second) {
    if (!as_long(past)) continue;
    for (size_t t = 0; t < returns.size(); ++t) advantages[t] -= past[t] / count;
  }
  return advantages;
}

void Baseline::add(uint32_t key, std::vector<float> returns) {
  auto& past = recent_[key];
  past.push_back(std::move(returns));
  if (past.size() > most_) past.pop_front();
}

// Keys in ascending order, one for each episode; then the episodes' returns.
std::string Baseline::to_bytes() const {
  std::vector<uint32_t> keys;
  std::string lists, bytes;
  for (const auto& [key, episodes] : recent_) {
    keys.insert(keys.end(), episodes.size(), key);
    for (const std::vector<float>& returns : episodes) put(returns, lists);
  }
  put(keys, bytes);
  return bytes + lists;
}

bool Baseline::from_bytes(std::string_view bytes) {
  recent_.clear();
  std::vector<uint32_t> keys;
  if (!get(keys, bytes)) return false;
  for (const uint32_t key : keys) {
    if (!get(recent_[key].emplace_back(), bytes)) return false;
  }
  return bytes.empty();
}

PolicyLoss score_function_loss() {
  return [](const Chosen& c) { return ChosenLoss{-(c.log_pi * c.advantage).sum(), 0}; };
}

namespace {

class Reinforce final : public PublishedAlgorithm {
 public:
  explicit Reinforce(const Config& config)
      : PublishedAlgorithm(config), baseline_(config.episodes.baseline) {}

  std::string save() const override {
    std::string bytes;
    put(learner_.save(), bytes);
    return bytes + baseline_.to_bytes();
  }

  Status load(const std::string& bytes) override {
    std::string_view left = bytes;
    std::string learner;
    if (!get(learner, left)) return Status::bad_input("no state of a reinforce run");
    if (Status s = learner_.load(learner); !s.ok()) return s;
    return baseline_.from_bytes(left) ? Status{} : Status::bad_input("damaged baseline");
  }

 private:
  void find_advantages(std::vector<Siblings>& all) override {
    for (Siblings& siblings : all) {
      const uint32_t key =
          siblings.course * uint32_t(std::size(kStarts)) + uint32_t(siblings.start);
      std::vector<std::vector<float>> returns = returns_of(siblings, with_.discount);
      for (const auto& r : returns) siblings.advantages.push_back(baseline_.advantages(key, r));
      for (auto& r : returns) baseline_.add(key, std::move(r));
    }
    scale_advantages(all, with_.reward_scale);
  }

  Result<PolicyLosses> learn(Run& run, const std::vector<Siblings>& all) override {
    return descend(run, all, 1, score_function_loss());
  }

  Baseline baseline_;
};

}  // namespace

std::unique_ptr<Algorithm> make_reinforce(const Config& config) {
  return std::make_unique<Reinforce>(config);
}

}  // namespace placeto::train
