#include "trainer/algorithms/reinforce.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace placeto::train {

std::vector<float> Baseline::advantages(uint32_t key, const std::vector<float>& returns) const {
  const auto it = recent_.find(key);
  if (it == recent_.end()) return std::vector<float>(returns.size(), 0.0f);
  std::vector<float> advantages(returns);
  const auto count = static_cast<float>(it->second.size());
  for (const std::vector<float>& past : it->second) {
    assert(past.size() == returns.size());
    for (size_t t = 0; t < returns.size(); ++t) advantages[t] -= past[t] / count;
  }
  return advantages;
}

void Baseline::add(uint32_t key, std::vector<float> returns) {
  auto& past = recent_[key];
  past.push_back(std::move(returns));
  if (past.size() > most_) past.pop_front();
}

// Words of 32 bits: number of keys; per key: key, episodes; per episode: steps, returns.
std::string Baseline::to_bytes() const {
  std::string bytes;
  const auto put = [&](size_t value) {
    const auto word = static_cast<uint32_t>(value);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  };
  put(recent_.size());
  for (const auto& [key, episodes] : recent_) {
    put(key);
    put(episodes.size());
    for (const std::vector<float>& returns : episodes) {
      put(returns.size());
      bytes.append(reinterpret_cast<const char*>(returns.data()), returns.size() * sizeof(float));
    }
  }
  return bytes;
}

bool Baseline::from_bytes(std::string_view bytes) {
  const auto get = [&](uint32_t& word) {
    if (bytes.size() < sizeof word) return false;
    std::memcpy(&word, bytes.data(), sizeof word);
    bytes.remove_prefix(sizeof word);
    return true;
  };
  recent_.clear();
  uint32_t keys = 0, key = 0, episodes = 0, steps = 0;
  if (!get(keys)) return false;
  for (; keys > 0; --keys) {
    if (!get(key) || !get(episodes)) return false;
    for (; episodes > 0; --episodes) {
      if (!get(steps) || steps > bytes.size() / sizeof(float)) return false;
      std::vector<float> returns(steps);
      std::memcpy(returns.data(), bytes.data(), steps * sizeof(float));
      bytes.remove_prefix(steps * sizeof(float));
      recent_[key].push_back(std::move(returns));
    }
  }
  return bytes.empty();
}

std::vector<std::vector<float>> group_advantages(const std::vector<std::vector<float>>& returns) {
  assert(returns.size() > 1);
  std::vector<std::vector<float>> advantages = returns;
  const auto others = static_cast<float>(returns.size() - 1);
  for (size_t t = 0; t < returns[0].size(); ++t) {
    float sum = 0;
    for (const auto& r : returns) sum += r[t];
    for (size_t i = 0; i < returns.size(); ++i) {
      advantages[i][t] = returns[i][t] - (sum - returns[i][t]) / others;
    }
  }
  return advantages;
}

}  // namespace placeto::train
