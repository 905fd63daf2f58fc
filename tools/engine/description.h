// Engine descriptions (models/engines/README.md): how an engine executes, what its providers can
// run, and what it fuses; and what that means for a topology and for the rules of a placing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/cost/problem.h"
#include "tools/engine/kernels.h"

namespace placeto {

// What a user should know of an engine on a topology, a sentence each.
struct EngineNotes {
  std::vector<std::string> lacked;   // by providers, so not placed there: may be why nothing fits
  std::vector<std::string> unknown;  // of no provider's table, or of no provider: allowed

  std::vector<std::string> all() const;
};

class EngineDescription {
 public:
  struct Prices {
    std::vector<std::string> kinds;  // empty: every other
    double stage_us = 0, cut_us = 0, cut_bytes_per_us = 0;
  };
  struct Provider {
    bool runs_all = false;
    std::map<std::string, KernelTable> operators;  // by domain
  };

  // Messages start with `name`.
  static Result<EngineDescription> parse(std::string_view text, const std::string& name);
  // One that ships with Placeto, or else a file.
  static Result<EngineDescription> load(const std::string& name);
  // Whether it is one by its fields, be it in order or not, and no other file of ours.
  static bool is_description(std::string_view text);
  // Of those that ship.
  static std::vector<std::string> names();
  static bool is_built_in(std::string_view name);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }  // of the engine, that was looked at
  std::optional<Execution> execution() const { return execution_; }
  const std::vector<Prices>& prices() const { return prices_; }
  const std::map<std::string, Provider>& providers() const { return providers_; }
  // Operators that stay with a neighbour, and chains of operators.
  size_t whole_operators() const { return with_readers_.size() + with_makers_.size(); }
  size_t whole_chains() const { return chains_.size(); }
  // The share by which leaving one device has to be better.
  double tolerance() const { return tolerance_; }

  // Its execution, and its prices for devices that give none.
  void change(TopologySpec& topology) const;

  // Whether it says anything of a provider of that name.
  bool knows(const std::string& provider) const { return find_provider(provider).ok(); }

  // Forbids what providers lack and keeps whole what the engine fuses. `providers`: DEVICE=NAME as
  // in tools/devices/device_settings.h; a CPU has the provider "cpu". Fails with kInvalidArgument
  // for a provider or device that there is not.
  Status restrict(const Graph& graph, const Topology& topology,
                  std::span<const std::string> providers, Rules& rules, EngineNotes& notes) const;

 private:
  friend class DescriptionReader;

  using Names = std::set<std::string>;
  enum class Answer { kRuns, kLacks, kUnknown };

  // `why` it lacks an operator that it has in other versions, or of other types.
  Answer ask(const Provider& provider, const NodeSpec& node, std::string& why) const;
  Result<const Provider*> find_provider(const std::string& name) const;
  void keep_whole(const Graph& graph, Rules& rules) const;

  std::string name_, version_;
  std::optional<Execution> execution_;
  double tolerance_ = 0;
  std::vector<Prices> prices_;
  std::map<std::string, Provider> providers_;
  std::map<std::string, Names> operators_;  // all there are, by domain where that is known
  Names with_readers_, with_makers_;
  std::vector<std::vector<std::string>> chains_;
};

}  // namespace placeto
