#include "tools/cli/inspect_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/cli/sheet.h"
#include "tools/io/topology_words.h"

namespace placeto::cli {
namespace {

struct Operators {
  size_t all = 0;    // that the provider runs
  size_t bound = 0;  // of those: in some versions or of some types only
};

Operators count_operators(const KernelTable& table) {
  const auto bound = std::count_if(table.begin(), table.end(),
                                   [](const auto& entry) { return !entry.second.empty(); });
  return {table.size(), static_cast<size_t>(bound)};
}

const char* execution_of(const EngineDescription& engine) {
  return engine.execution() ? name_of(*engine.execution()) : "as the topology says";
}

std::string price_table(const EngineDescription& engine) {
  if (engine.prices().empty()) return "";
  Table table({{"kinds", Align::kLeft},
               {"stage", Align::kRight},
               {"cut", Align::kRight},
               {"cut B/us", Align::kRight}});
  for (const EngineDescription::Prices& p : engine.prices()) {
    table.add_row({p.kinds.empty() ? "every other" : fmt::format("{}", fmt::join(p.kinds, ", ")),
                   format_us(p.stage_us), format_us(p.cut_us),
                   p.cut_bytes_per_us > 0 ? format_si(p.cut_bytes_per_us) : "-"});
  }
  return "\n" + table.render();
}

std::string provider_table(const EngineDescription& engine) {
  if (engine.providers().empty()) return "";
  Table table({{"provider", Align::kLeft},
               {"domain", Align::kLeft},
               {"operators", Align::kRight},
               {"by version or type", Align::kRight}});
  for (const auto& [name, provider] : engine.providers()) {
    if (provider.runs_all) table.add_row({name, "all", "all", "-"});
    for (const auto& [domain, operators] : provider.operators) {
      const Operators counts = count_operators(operators);
      table.add_row({name, domain, format_count(counts.all), format_count(counts.bound)});
    }
  }
  return "\n" + table.render();
}

}  // namespace

Json describe(const EngineDescription& engine) {
  Json prices = Json::array(), providers = Json::array();
  for (const EngineDescription::Prices& p : engine.prices()) {
    prices.push_back({{"kinds", p.kinds},
                      {"stage_us", p.stage_us},
                      {"cut_us", p.cut_us},
                      {"cut_bytes_per_us", p.cut_bytes_per_us}});
  }
  for (const auto& [name, provider] : engine.providers()) {
    Json domains = Json::object();
    for (const auto& [domain, operators] : provider.operators) {
      const Operators counts = count_operators(operators);
      domains[domain] = {{"operators", counts.all}, {"by_version_or_type", counts.bound}};
    }
    providers.push_back(
        {{"name", name}, {"runs_all", provider.runs_all}, {"domains", std::move(domains)}});
  }
  return {{"kind", "engine"},
          {"name", engine.name()},
          {"version", engine.version()},
          {"execution", engine.execution() ? Json(name_of(*engine.execution())) : Json(nullptr)},
          {"tolerance", engine.tolerance()},
          {"prices", std::move(prices)},
          {"providers", std::move(providers)},
          {"whole_operators", engine.whole_operators()},
          {"whole_chains", engine.whole_chains()}};
}

std::string summarize(const EngineDescription& engine) {
  Sheet sheet;
  sheet.add("engine", engine.version().empty()
                          ? engine.name()
                          : fmt::format("{} {}", engine.name(), engine.version()));
  sheet.add("execution", execution_of(engine));
  sheet.add("tolerance",
            fmt::format("{:.6g}%: one device is kept unless leaving it is predicted to gain more",
                        100 * engine.tolerance()));
  if (engine.whole_operators() + engine.whole_chains() > 0) {
    sheet.add("kept whole", fmt::format("{} with their neighbours, {}",
                                        plural(engine.whole_operators(), "operator"),
                                        plural(engine.whole_chains(), "chain")));
  }
  return sheet.render() + price_table(engine) + provider_table(engine);
}

}  // namespace placeto::cli
