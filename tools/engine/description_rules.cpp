// What an engine's description forbids, and what it keeps together.
#include "tools/engine/description.h"

#include <limits>
#include <set>

#include "tools/costs/only_reader.h"
#include "tools/devices/device_settings.h"
#include "tools/devices/providers.h"

namespace placeto {
namespace {

// What must stay whole does, however many tensors pass.
constexpr size_t kAnyEdges = std::numeric_limits<size_t>::max();

// How many nodes of each operator, apart by why the provider lacks them.
using Counts = std::map<std::pair<std::string, std::string>, uint32_t>;

// "Conv (3, of double), Loop (1), TopK (1, operator set 9)".
std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [which, count] : counts) {
    const auto& [op, why] = which;
    text += (text.empty() ? "" : ", ") + op + " (" + std::to_string(count) +
            (why.empty() ? "" : ", " + why) + ")";
  }
  return text;
}

// The operator's domain, "" where that is not known, and its name there. It may stand before the
// name, too: "com.microsoft:Attention".
std::pair<std::string, std::string> domain_and_type(const NodeSpec& node) {
  const size_t colon = node.op.rfind(':');
  if (colon == std::string::npos) return {node.domain, node.op};
  return {node.domain.empty() ? node.op.substr(0, colon) : node.domain, node.op.substr(colon + 1)};
}

// The provider of each device: "" where none is named.
Result<std::vector<std::string>> providers_of(std::span<const std::string> wishes,
                                              const Topology& topology) {
  auto providers = device_settings(device_names(topology.spec()), wishes);
  for (uint32_t d = 0; d < topology.device_count() && providers.ok(); ++d) {
    std::string& provider = (*providers)[d];
    if (provider.empty() && topology.device(d).kind == "cpu") provider = "cpu";
  }
  return providers;
}

}  // namespace

std::vector<std::string> EngineNotes::all() const {
  std::vector<std::string> notes = lacked;
  notes.insert(notes.end(), unknown.begin(), unknown.end());
  return notes;
}

// Where a graph does not name an operator's domain, those of one name in several domains are taken
// for each other.
EngineDescription::Answer EngineDescription::ask(const Provider& provider, const NodeSpec& node,
                                                 std::string& why) const {
  if (provider.runs_all) return Answer::kRuns;
  const auto domain_type = domain_and_type(node);
  const auto& of_domain = domain_type.first;
  const auto& type = domain_type.second;
  const auto may_be_of = [&](const std::string& domain) {
    return of_domain.empty() || of_domain == domain;
  };
  std::vector<const Kernel*> kernels;
  for (const auto& [domain, table] : provider.operators) {
    const auto found = may_be_of(domain) ? table.find(type) : table.end();
    if (found == table.end()) continue;
    if (found->second.empty()) return Answer::kRuns;
    for (const Kernel& kernel : found->second) kernels.push_back(&kernel);
  }
  if (!kernels.empty()) {
    why = refusal(kernels, node);
    return why.empty() ? Answer::kRuns : Answer::kLacks;
  }
  const auto lists = [&](const auto& known) {  // in a domain that this provider lists, too
    for (const auto& [domain, names] : known) {
      const bool listed = may_be_of(domain) && provider.operators.contains(domain);
      if (listed && names.contains(type)) return true;
    }
    return false;
  };
  if (lists(operators_)) return Answer::kLacks;
  for (const auto& [_, other] : providers_) {
    if (lists(other.operators)) return Answer::kLacks;
  }
  return Answer::kUnknown;
}

// nullptr: a processor, of which the description says nothing.
Result<const EngineDescription::Provider*> EngineDescription::find_provider(
    const std::string& name) const {
  const auto found = providers_.find(name);
  if (found != providers_.end()) return &found->second;
  for (const auto& [other, provider] : providers_) {
    if (provider_named(other) == provider_named(name)) return &provider;
  }
  if (provider_named(name) == "cpu") return static_cast<const Provider*>(nullptr);
  std::string names;
  for (const auto& [other, _] : providers_) names += (names.empty() ? "" : ", ") + other;
  return Status::invalid("engine '" + name_ + "' has no provider '" + name + "'; it has " +
                         (names.empty() ? "none" : names));
}

void EngineDescription::keep_whole(const Graph& graph, Rules& rules) const {
  const auto together = [&rules](uint32_t a, uint32_t b) { rules.colocate.push_back({a, b}); };
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const std::string& op = graph.node(v).op;
    // One that several operators read is not kept with all of them: through such tensors whole
    // networks would hang together. What makes a weight is copied to all that read it.
    const bool of_weight = graph.in_edges(v).empty();
    if (with_readers_.contains(op) &&
        (of_weight || only_reader(graph, v, kAnyEdges) < graph.node_count())) {
      for (const OutEdge& e : graph.out_edges(v)) together(v, e.target);
    }
    if (with_makers_.contains(op)) {
      for (const InEdge& e : graph.in_edges(v)) together(v, e.source);
    }
    for (const std::vector<std::string>& chain : chains_) {
      uint32_t last = v;
      for (size_t i = 0; i + 1 < chain.size() && graph.node(last).op == chain[i]; ++i) {
        const uint32_t reader = only_reader(graph, last, kAnyEdges);
        if (reader == graph.node_count() || graph.node(reader).op != chain[i + 1]) break;
        together(last, reader);
        last = reader;
      }
    }
  }
}

Status EngineDescription::restrict(const Graph& graph, const Topology& topology,
                                   std::span<const std::string> wishes, Rules& rules,
                                   EngineNotes& notes) const {
  const auto providers = providers_of(wishes, topology);
  if (!providers.ok()) return providers.status();
  std::map<std::string, Counts> lacked, unknown;  // by device
  std::set<std::string> unasked;                  // kinds
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    const std::string& name = (*providers)[d];
    if (name.empty()) {
      const std::string& kind = topology.device(d).kind;
      if (kind != "cpu" && !providers_.empty()) unasked.insert(kind);
      continue;
    }
    const Result<const Provider*> provider = find_provider(name);
    if (!provider.ok()) return provider.status();
    if (*provider == nullptr) continue;
    const std::string where = name + " on " + topology.device(d).name;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      const std::string& op = graph.node(v).op;
      std::string why;
      const Answer answer = ask(**provider, graph.node(v), why);
      if (answer == Answer::kLacks) {
        rules.forbids.push_back({v, d});
        ++lacked[where][{op, why}];
      } else if (answer == Answer::kUnknown) {
        ++unknown[where][{op.empty() ? "(no operator named)" : op, ""}];
      }
    }
  }
  for (const auto& [where, counts] : lacked) {
    notes.lacked.push_back(where + " lacks " + counts_text(counts) + ": not placed there");
  }
  for (const auto& [where, counts] : unknown) {
    notes.unknown.push_back("whether " + where + " runs " + counts_text(counts) +
                            " is not known: allowed");
  }
  if (!unasked.empty()) {
    std::string kinds;
    for (const std::string& kind : unasked) kinds += (kinds.empty() ? "" : ", ") + kind;
    notes.unknown.push_back("no provider is named for " + kinds +
                            " (--provider): all operators are allowed there");
  }
  keep_whole(graph, rules);
  return {};
}

}  // namespace placeto
