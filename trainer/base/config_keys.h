// The algorithms of learning and the keys of a configuration: one row each, from which reading,
// checking and printing derive. A key that a run does not read is refused there: it would seem to
// do something.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/base/config.h"

namespace placeto::train {

struct AlgorithmInfo {
  const char* name;
  const char* meaning;
  bool pairwise, placeto;  // the architectures that it is for
  // What it does, which says which keys it reads.
  bool records_decisions = false;  // [collect], and how [learn] learns from them
  bool teaches_leaps = false;      // much of both, and what is of leaps alone
  bool runs_episodes = false;      // [episodes], but those that follow
  bool keeps_baseline = false;     // of past episodes
  bool compares_siblings = false;  // episodes of one iteration, which it learns from several times
  void (*set_defaults)(Config&) = nullptr;  // where they are others than those of Config{}
};
// "reinforce and siblings": those that do.
std::string algorithms_that(bool AlgorithmInfo::*does);
// Null if there is none of that name.
const AlgorithmInfo* find_algorithm(std::string_view name);

// Where a value is stored, which is also its type.
using Slot = std::variant<uint32_t*, uint64_t*, double*, std::string*, std::vector<uint32_t>*,
                          std::vector<std::string>*>;

// Which runs read a key: by their algorithm, their architecture, and what they learn on.
struct Readers {
  const char* who;  // "by credit"
  bool (*include)(const Config&);
};
inline constexpr Readers kAnyRun = {"by all", [](const Config&) { return true; }};

struct ConfigKey {
  const char* section;  // "": before the first section
  const char* name;
  Slot (*slot)(Config&);
  const Readers* readers = &kAnyRun;
  const char* meaning = "";
  double least = 0, most = std::numeric_limits<uint32_t>::max();  // of numbers
  std::vector<std::string> words = {};  // that text, or a list of text, may be; empty: any
  const char* formerly = nullptr;       // a name that is still read
  bool may_change = false;              // while a run goes on; lists: but become empty, or cease to
};

struct ConfigSection {
  const char* name;
  const char* meaning;
};

// With its section: "learn.hidden".
std::string full_name(const ConfigKey& key);

std::span<const AlgorithmInfo> algorithms();
std::span<const ConfigKey> config_keys();          // by section
std::span<const ConfigSection> config_sections();  // in the order of the keys

}  // namespace placeto::train
