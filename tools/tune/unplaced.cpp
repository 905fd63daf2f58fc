#include "tools/tune/unplaced.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/engine/cores.h"

namespace placeto {
namespace {

class Unplaced {
 public:
  explicit Unplaced(const TuneOptions& options) : options_(options) {}

  std::vector<std::unique_ptr<Runnable>> contenders;

  // All of it on `device`, by the provider.
  Status add(Contender info, const std::string& file, size_t device, const std::string& provider) {
    auto contender = std::make_unique<Runnable>();
    contender->info = std::move(info);
    contender->directory = file;
    contender->device = device;
    contender->provider = provider;
    if (Status s = open_contender(options_, *contender); !s.ok()) return s;
    contenders.push_back(std::move(contender));
    return {};
  }

  // The whole model in one session with each provider beside the processor's: the engine divides it
  // among the two as it sees fit.
  Status add_engine_with_providers() {
    std::set<std::string> seen{"cpu"};
    for (size_t d = 0; d < options_.providers.size(); ++d) {
      const std::string& provider = options_.providers[d];
      if (!seen.insert(provider).second) continue;
      Contender engine;
      engine.way = Contender::Way::kEngine;
      engine.name = "the engine with " + provider;
      engine.threads = options_.threads;
      if (Status s = add(engine, options_.model, d, provider); !s.ok()) return s;
    }
    return {};
  }

 private:
  const TuneOptions& options_;
};

bool stands_for_slower(const TopologySpec& machine, const TuneOptions& options) {
  for (size_t d = 0; d < machine.devices.size(); ++d) {
    const bool held = !options.share.empty() && options.share[d] < 1;
    if (held || machine.devices[d].slowdown != machine.devices[0].slowdown) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<std::unique_ptr<Runnable>>> unplaced_contenders(
    const TopologySpec& machine, const TuneOptions& options, const std::string& optimised,
    std::vector<std::string>& notes) {
  Unplaced unplaced(options);
  if (stands_for_slower(machine, options)) return std::move(unplaced.contenders);
  const auto& providers = options.providers;
  const auto processors = static_cast<uint32_t>(std::ranges::count(providers, "cpu"));
  // One device for all of a processor is as many workers as that has cores.
  const uint32_t cores = usable_cores();
  const uint32_t count = processors == 1 ? cores : std::min(processors, cores);
  if (cores < processors) {
    notes.push_back(
        fmt::format("{} processors of the topology have {} core{} here, and wait for "
                    "one another",
                    processors, cores, cores == 1 ? "" : "s"));
  }
  // Where no device is a processor, the first stands for it.
  const size_t first = static_cast<size_t>(std::ranges::find(providers, "cpu") - providers.begin());
  const size_t processor = processors > 0 ? first : 0;
  if (count > options.threads) {
    Contender threads;
    threads.way = Contender::Way::kThreads;
    threads.name = fmt::format("one device, {} threads", count);
    threads.threads = count;
    if (Status s = unplaced.add(threads, optimised, processor, "cpu"); !s.ok()) return s;
  }
  Contender engine;
  engine.way = Contender::Way::kEngine;
  engine.name = "the engine by itself";
  engine.threads = 0;  // as many as it likes
  if (Status s = unplaced.add(engine, options.model, processor, "cpu"); !s.ok()) return s;
  if (Status s = unplaced.add_engine_with_providers(); !s.ok()) return s;
  if (options.objective == Objective::kThroughput && count > 1) {
    Contender replicas;
    replicas.way = Contender::Way::kReplicas;
    replicas.name = fmt::format("{} replicas", count);
    replicas.replicas = count;
    if (Status s = unplaced.add(replicas, optimised, processor, "cpu"); !s.ok()) return s;
  }
  return std::move(unplaced.contenders);
}

}  // namespace placeto
