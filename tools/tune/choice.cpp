// What is handed out, and why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/tune/tune.h"

namespace placeto {
namespace {

// What a user has to keep running: fewer of everything is simpler.
auto effort(const Contender& c) {
  return std::tuple(c.way == Contender::Way::kEngine ? 0 : 1, c.stages, c.devices, c.replicas,
                    c.threads);
}

// Of equally simple ones the faster.
bool is_simpler(const Contender& a, const Contender& b) {
  return std::tuple(effort(a), a.over_whole) < std::tuple(effort(b), b.over_whole);
}

bool is_division(const Contender& c) {
  return c.way == Contender::Way::kPlaced && c.stages > 1;
}

const Contender* fastest(const std::vector<Contender>& contenders, auto&& wanted) {
  const Contender* best = nullptr;
  for (const Contender& c : contenders) {
    if (wanted(c) && (best == nullptr || c.over_whole < best->over_whole)) best = &c;
  }
  return best;
}

std::string comparison(const char* what, const Contender* other) {
  if (other == nullptr) return "";
  return fmt::format("{} takes {:.2f}{}", what, other->over_whole,
                     other->deviates() ? " and deviates" : "");
}

bool has_more(const Contender& c) {
  return c.way == Contender::Way::kThreads || c.way == Contender::Way::kReplicas;
}

std::string rule_of_ties(const Contender& faster, double tolerance) {
  return fmt::format(
      " What is within {:.4g}% of the fastest ({}, {:.3f}) counts as equal, and of that the way "
      "with "
      "the fewest stages, devices, replicas and threads is handed out.",
      100 * tolerance, faster.name, faster.over_whole);
}

}  // namespace

double Contender::error() const {
  return predicted_over_whole > 0 ? std::abs(predicted_over_whole / over_whole - 1) : 0;
}

size_t choose(const std::vector<Contender>& contenders, double tolerance) {
  double least = contenders.front().over_whole;
  for (const Contender& c : contenders) least = std::min(least, c.over_whole);
  size_t chosen = contenders.size();
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].over_whole > least * (1 + tolerance)) continue;
    if (chosen == contenders.size() || is_simpler(contenders[i], contenders[chosen])) chosen = i;
  }
  return chosen;
}

nlohmann::ordered_json described(const Contender& info) {
  constexpr const char* kWays[] = {"placed", "threads", "replicas", "engine"};
  nlohmann::ordered_json object{{"name", info.name},
                                {"way", kWays[static_cast<size_t>(info.way)]},
                                {"stages", info.stages},
                                {"devices", info.devices},
                                {"threads", info.threads},
                                {"replicas", info.replicas},
                                {"measured_us", info.measured_us},
                                {"over_whole", info.over_whole}};
  if (info.predicted_us > 0) {
    object["predicted_us"] = info.predicted_us;
    object["predicted_over_whole"] = info.predicted_over_whole;
  }
  if (info.output) {  // JSON has no infinity
    object["deviation"] = std::min(info.output->deviation, std::numeric_limits<double>::max());
    object["tolerance"] = info.output->tolerance;
  }
  return object;
}

std::string words_of(const std::string& reference) {
  return "on one thread" + (reference == "cpu" ? "" : " with " + reference);
}

std::string explain_choice(const std::vector<Contender>& contenders, size_t chosen,
                           double tolerance, const std::string& reference) {
  const Contender& winner = contenders[chosen];
  std::string text = fmt::format("{}: {:.2f} of the whole model {}", winner.name, winner.over_whole,
                                 words_of(reference));
  const auto other = [&](auto&& wanted) {
    return fastest(contenders, [&](const Contender& c) { return &c != &winner && wanted(c); });
  };
  // By itself, or with another provider than the processor's.
  const Contender* engine =
      other([](const Contender& c) { return c.way == Contender::Way::kEngine; });
  const Contender* single =
      other([](const Contender& c) { return c.way == Contender::Way::kPlaced && c.stages == 1; });
  const std::string parts[] = {
      single == nullptr ? "" : comparison(single->name.c_str(), single),
      comparison(is_division(winner) ? "the best other division" : "the best division",
                 other(is_division)),
      comparison(has_more(winner) ? "the best other of threads and replicas"
                                  : "the best of threads and replicas",
                 other(has_more)),
      engine == nullptr ? "" : comparison(engine->name.c_str(), engine)};
  bool first = true;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    text += (first ? "; " : ", ") + part;
    first = false;
  }
  const Contender* faster = other([&](const Contender& c) {
    return c.over_whole < winner.over_whole && (winner.deviates() || !c.deviates());
  });
  return text + "." + (faster == nullptr ? "" : rule_of_ties(*faster, tolerance));
}

}  // namespace placeto
