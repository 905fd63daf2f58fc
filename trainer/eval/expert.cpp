#include "trainer/eval/expert.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "runtime/heuristics/heuristics.h"

namespace placeto::train {
namespace {

// The 3 of "encoder/3/7" or "gradient/decoder/3/7".
std::optional<uint32_t> layer_of(std::string_view name, uint32_t most) {
  for (const std::string_view part : {"encoder/", "decoder/"}) {
    const size_t at = name.find(part);
    if (at == std::string_view::npos) continue;
    const char* const end = name.data() + name.size();
    uint32_t layer = 0;
    const auto read = std::from_chars(name.data() + at + part.size(), end, layer);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '/' && layer < most) return layer;
  }
  return std::nullopt;
}

bool holds(const std::string& name, const char* part) {
  return name.find(part) != std::string::npos;
}

// Layer of every node: embeddings are of the first, what belongs to none of the last. Nothing if
// there are no layers.
std::optional<std::vector<uint32_t>> layers(const Graph& graph, uint32_t& count) {
  std::vector<uint32_t> layer(graph.node_count());
  count = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const auto l = layer_of(graph.node(v).name, graph.node_count());
    if (l) count = std::max(count, *l + 1);
  }
  if (count == 0) return std::nullopt;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const std::string& name = graph.node(v).name;
    const bool embedding = holds(name, "source/") || holds(name, "target/");
    layer[v] = layer_of(name, graph.node_count()).value_or(embedding ? 0 : count - 1);
  }
  return layer;
}

class ExpertMethod final : public Method {
 public:
  std::string_view name() const override { return "expert"; }
  std::string_view summary() const override { return "rules by which people place networks"; }

  Result<Candidate> place(Workbench& bench) const override {
    const Problem& problem = bench.problem();
    uint32_t count = 0;
    const auto layer = layers(problem.graph(), count);
    Candidate candidate;
    if (layer) {
      candidate.assignment = by_layer(problem, *layer, count);
      candidate.score = bench.evaluator().evaluate(candidate.assignment);
    } else {
      Result<Candidate> found = contiguous_method().place(bench);
      if (!found.ok()) return found;
      candidate = std::move(*found);
    }
    candidate.method = "expert";
    return candidate;
  }

 private:
  // A colocated set goes where its first node belongs, or to the first device it may.
  static Assignment by_layer(const Problem& problem, const std::vector<uint32_t>& layer,
                             uint32_t count) {
    const uint32_t devices = problem.device_count();
    Assignment assignment(problem.node_count());
    for (uint32_t set = 0; set < problem.group_count(); ++set) {
      const uint32_t l = layer[problem.members(set)[0]];
      uint32_t device = count <= devices ? l : static_cast<uint32_t>(uint64_t{l} * devices / count);
      if (!problem.allowed(set, device)) device = problem.next_allowed(set, 0);
      for (const uint32_t v : problem.members(set)) assignment[v] = device;
    }
    return assignment;
  }
};

}  // namespace

const Method& expert_method() {
  static constexpr ExpertMethod method;
  return method;
}

}  // namespace placeto::train
