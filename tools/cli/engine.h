// --engine and --provider: how an engine executes, and what its providers can run
// (models/engines/README.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "tools/options/options.h"

namespace placeto::cli {

struct EngineOptions {
  std::string name;                    // of a built-in description, or a file; empty: none
  std::vector<std::string> providers;  // DEVICE=PROVIDER or KIND=PROVIDER
};
void add_engine(Command& command, EngineOptions& options);

// What an engine changes: the topology, the rules, and how much a plan has to gain.
struct EngineChoice {
  double tolerance = 0;
  std::vector<std::string> notes;  // what a user should know of it
};

// Applies the description to the topology's description: its execution, and its prices for devices
// that give none. Then forbids what providers lack and keeps whole what the engine fuses. A Failure
// says what is wrong with the description or the options, and where.
class Engine {
 public:
  // Nothing, if options.name is empty.
  explicit Engine(const EngineOptions& options);
  ~Engine();

  void change(TopologySpec& topology);
  void restrict(const Graph& graph, const Topology& topology, Rules& rules);
  const EngineChoice& choice() const { return choice_; }

 private:
  struct Description;
  std::unique_ptr<Description> description_;
  std::vector<std::string> providers_;
  EngineChoice choice_;
};

}  // namespace placeto::cli
