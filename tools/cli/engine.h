// --engine and --provider: how an engine executes, and what its providers can run
// (models/engines/README.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/common.h"
#include "tools/engine/description.h"
#include "tools/options/options.h"

namespace placeto::cli {

struct EngineOptions {
  std::string name;                    // of a built-in description, or a file; empty: none
  std::vector<std::string> providers;  // DEVICE=PROVIDER or KIND=PROVIDER
};
void add_engine(Command& command, EngineOptions& options);
// --engine alone, of commands that read a placement.
Option& add_recorded_engine(Command& command, std::string& name);

// A built-in one or a file, if it is an engine description; a Failure if one is not in order.
std::optional<EngineDescription> find_engine(const std::string& path);

// What an engine changes: the topology, the rules, and how much a plan has to gain.
struct EngineChoice {
  double tolerance = 0;
  EngineNotes notes;
};

// A Failure says what is wrong with the description or the options, and where.
class Engine {
 public:
  // Nothing, if options.name is empty.
  explicit Engine(const EngineOptions& options);

  // The file at `path` as the engine executes on it.
  Topology load(const std::string& path) const;
  void restrict(const Graph& graph, const Topology& topology, Rules& rules);
  const EngineChoice& choice() const { return choice_; }

  // What `run` returns; a Failure of it with what providers lack, which may be why.
  template <class Run>
  auto explaining(const Run& run) const {
    try {
      return run();
    } catch (Failure& failure) {
      throw with_notes(failure);
    }
  }

 private:
  Failure with_notes(const Failure& failure) const;

  std::optional<EngineDescription> description_;
  std::vector<std::string> providers_;
  EngineChoice choice_;
};

}  // namespace placeto::cli
