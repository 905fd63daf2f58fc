// The algorithms of learning and the keys of a configuration: one row each, from which reading,
// checking and printing derive. A key that a run does not read is refused there: it would seem to
// do something.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trainer/base/config.h"

namespace placeto::train {

struct AlgorithmInfo {
  const char* name;
  const char* meaning;
  bool pairwise, placeto;  // the architectures that it is for
};

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
