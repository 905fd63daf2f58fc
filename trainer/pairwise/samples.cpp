#include "trainer/pairwise/samples.h"

#include <algorithm>

#include "trainer/base/bytes.h"

namespace placeto::train {
namespace {

bool all_below(std::span<const uint32_t> indices, size_t bound) {
  return std::all_of(indices.begin(), indices.end(), [bound](uint32_t i) { return i < bound; });
}

bool whole(const GraphState& state) {
  const uint32_t nodes = state.node_count();
  return nodes > 0 && state.rows.size() == size_t{nodes} * kNodeFeatures &&
         state.source.size() == state.target.size() && all_below(state.source, nodes) &&
         all_below(state.target, nodes);
}

}  // namespace

std::shared_ptr<const GraphState> GraphState::of(const Graph& graph, std::span<const float> rows) {
  auto state = std::make_shared<GraphState>();
  state->rows.assign(rows.begin(), rows.end());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& out : graph.out_edges(v)) {
      state->source.push_back(v);
      state->target.push_back(out.target);
    }
  }
  return state;
}

uint32_t Samples::expert_choice(std::span<const uint32_t> nodes, std::span<const uint32_t> devices,
                                std::span<const uint32_t> now, std::span<const uint32_t> wanted) {
  const uint32_t device = wanted[nodes[0]];
  const auto is_wanted = [&](uint32_t v) { return wanted[v] == device; };
  const auto is_there = [&](uint32_t v) { return now[v] == device; };
  if (!std::ranges::all_of(nodes, is_wanted)) return kNoExpert;
  if (std::ranges::all_of(nodes, is_there)) return static_cast<uint32_t>(devices.size());
  const auto at = std::ranges::find(devices, device);
  return at == devices.end() ? kNoExpert : static_cast<uint32_t>(at - devices.begin());
}

std::pair<uint32_t, uint32_t> Samples::same_graph(uint32_t decision) const {
  const auto [first, last] = std::equal_range(graph.begin(), graph.end(), graph[decision]);
  return {static_cast<uint32_t>(first - graph.begin()),
          static_cast<uint32_t>(last - graph.begin())};
}

void Samples::close_members(std::span<const uint32_t> nodes) {
  graph.push_back(static_cast<uint32_t>(graphs.size()) - 1);
  members.insert(members.end(), nodes.begin(), nodes.end());
  member_offset.push_back(static_cast<uint32_t>(members.size()));
}

void Samples::append(const Samples& other) {
  const auto first = row_count(), first_graph = static_cast<uint32_t>(graphs.size()),
             first_member = static_cast<uint32_t>(members.size());
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
  gains.insert(gains.end(), other.gains.begin(), other.gains.end());
  expert.insert(expert.end(), other.expert.begin(), other.expert.end());
  graphs.insert(graphs.end(), other.graphs.begin(), other.graphs.end());
  members.insert(members.end(), other.members.begin(), other.members.end());
  for (const uint32_t g : other.graph) graph.push_back(first_graph + g);
  const auto add_offsets = [](auto& to, const auto& from, uint32_t before) {
    for (uint32_t i = 1; i < from.size(); ++i) to.push_back(before + from[i]);
  };
  add_offsets(offset, other.offset, first);
  add_offsets(member_offset, other.member_offset, first_member);
}

void Samples::append_decision(const Samples& other, uint32_t decision) {
  const auto from = other.offset[decision], to = other.offset[decision + 1];
  rows.insert(rows.end(), other.rows.begin() + size_t{from} * kPairFeatures,
              other.rows.begin() + size_t{to} * kPairFeatures);
  gains.insert(gains.end(), other.gains.begin() + from, other.gains.begin() + to);
  close_decision(other.expert[decision]);
  if (other.graph.empty()) return;
  const auto& state = other.graphs[other.graph[decision]];
  if (graphs.empty() || graphs.back() != state) graphs.push_back(state);
  close_members(other.nodes(decision));
}

std::string Samples::to_bytes() const {
  std::string bytes;
  put(offset, bytes);
  put(rows, bytes);
  put(gains, bytes);
  put(expert, bytes);
  if (graph.empty()) return bytes;
  for (const auto* list : {&graph, &member_offset, &members}) put(*list, bytes);
  for (const auto& state : graphs) {
    put(state->rows, bytes);
    put(state->source, bytes);
    put(state->target, bytes);
  }
  return bytes;
}

bool Samples::from_bytes(std::string_view bytes) {
  return get(offset, bytes) && get(rows, bytes) && get(gains, bytes) && get(expert, bytes) &&
         !offset.empty() && offset.back() == gains.size() && expert.size() == decisions() &&
         rows.size() == gains.size() * kPairFeatures && (bytes.empty() || graphs_from_bytes(bytes));
}

bool Samples::graphs_from_bytes(std::string_view bytes) {
  for (auto* list : {&graph, &member_offset, &members}) {
    if (!get(*list, bytes)) return false;
  }
  while (!bytes.empty()) {
    GraphState state;
    if (!get(state.rows, bytes) || !get(state.source, bytes) || !get(state.target, bytes) ||
        !whole(state)) {
      return false;
    }
    graphs.push_back(std::make_shared<const GraphState>(std::move(state)));
  }
  if (graph.size() != decisions() || !all_below(graph, graphs.size()) ||
      !std::is_sorted(graph.begin(), graph.end()) || member_offset.size() != offset.size() ||
      !std::is_sorted(member_offset.begin(), member_offset.end()) || member_offset[0] != 0 ||
      member_offset.back() != members.size()) {
    return false;
  }
  for (uint32_t g = 0; g < decisions(); ++g) {
    if (!all_below(nodes(g), graphs[graph[g]]->node_count())) return false;
  }
  return true;
}

}  // namespace placeto::train
