#include "tools/export/name_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/graph/text.h"
#include "tools/export/name_matcher.h"

namespace placeto {
namespace {

constexpr uint64_t kImpossible = std::numeric_limits<uint32_t>::max();

using DeviceRules = std::map<std::string, uint32_t, std::less<>>;  // device by pattern

// The fewest characters of prefix rules that give every name its device, where the longest matching
// prefix decides: dynamic programming over the tree of common prefixes, as for routing tables
// (Draves et al., Constructing optimal IP routing tables, INFOCOM 1999).
class PrefixRules {
 public:
  // names: sorted, distinct. extension: how many characters a pattern goes on after the prefix that
  // its subtree shares with others; more are clearer, fewer are shorter.
  PrefixRules(std::span<const NamedNode> names, size_t device_count, size_t extension)
      : names_(names), devices_(device_count), extension_(extension) {
    root_ = build(0, names.size(), 0);
  }

  // False if the names allow no such rules.
  bool collect(DeviceRules& rules) const {
    if (vertices_[root_].cost[devices_] >= kImpossible) return false;
    collect(root_, static_cast<uint32_t>(devices_), rules);
    return true;
  }

 private:
  struct Vertex {
    std::string_view pattern;
    std::vector<size_t> children;
    std::vector<uint64_t> base;  // per device that rules here; [devices_]: none does
    std::vector<uint64_t> cost;  // the same, where a rule may be added here
    uint32_t best = kNoIndex;    // device of the rule that would be added
  };

  // The vertex of names [begin, end), which share more than `parent` characters. Depth of
  // recursion: at most the longest name.
  size_t build(size_t begin, size_t end, size_t parent) {
    const std::string_view first = names_[begin].name, last = names_[end - 1].name;
    size_t depth = 0;
    while (depth < first.size() && depth < last.size() && first[depth] == last[depth]) ++depth;
    Vertex vertex;
    vertex.base.assign(devices_ + 1, 0);
    vertex.pattern = first.substr(0, std::min(depth, parent + extension_));
    size_t next = begin;
    if (first.size() == depth) {  // a name that others begin with: only a rule here decides it
      for (size_t d = 0; d <= devices_; ++d) {
        if (d != names_[begin].device) vertex.base[d] = kImpossible;
      }
      ++next;
    }
    while (next < end) {
      const char key = names_[next].name[depth];
      size_t stop = next;
      while (stop < end && names_[stop].name[depth] == key) ++stop;
      const size_t child = build(next, stop, depth);
      vertex.children.push_back(child);
      for (size_t d = 0; d <= devices_; ++d) {
        vertex.base[d] = std::min(kImpossible, vertex.base[d] + vertices_[child].cost[d]);
      }
      next = stop;
    }
    add_rule(vertex);
    vertices_.push_back(std::move(vertex));
    return vertices_.size() - 1;
  }

  void add_rule(Vertex& vertex) const {
    vertex.cost = vertex.base;
    if (!is_name_pattern(vertex.pattern)) return;
    const auto end = vertex.base.begin() + static_cast<ptrdiff_t>(devices_);
    const auto best = std::min_element(vertex.base.begin(), end);
    vertex.best = static_cast<uint32_t>(best - vertex.base.begin());
    const uint64_t with_rule = *best + vertex.pattern.size() + 1;
    for (uint64_t& cost : vertex.cost) cost = std::min(cost, with_rule);
  }

  void collect(size_t v, uint32_t inherited, DeviceRules& rules) const {
    const Vertex& vertex = vertices_[v];
    if (vertex.cost[inherited] < vertex.base[inherited]) {
      rules[std::string(vertex.pattern)] = vertex.best;
      inherited = vertex.best;
    }
    for (const size_t child : vertex.children) collect(child, inherited, rules);
  }

  std::span<const NamedNode> names_;
  size_t devices_, extension_;
  std::vector<Vertex> vertices_;
  size_t root_ = 0;
};

std::string text_of(const DeviceRules& rules, std::span<const std::string> engine) {
  std::string text;
  for (uint32_t d = 0; d < engine.size(); ++d) {
    std::string patterns;
    for (const auto& [pattern, device] : rules) {
      if (device == d) patterns += (patterns.empty() ? "" : ",") + pattern;
    }
    if (!patterns.empty()) text += (text.empty() ? "" : ";") + engine[d] + "(" + patterns + ")";
  }
  return text;
}

// Prefixes may also occur within other names. Gives those that went wrong rules of their own, until
// all are right: it ends, as whole names always work. "" if that takes too many characters.
std::string repaired(DeviceRules rules, std::span<const NamedNode> names,
                     std::span<const std::string> engine) {
  for (;;) {
    const std::string text = text_of(rules, engine);
    if (text.size() > kMaxOptionBytes) return "";
    const NameMatcher matcher(text);
    bool right = true;
    for (const NamedNode& node : names) {
      if (matcher.device_of(node.name) == engine[node.device]) continue;
      if (!is_name_pattern(node.name)) return "";
      rules[std::string(node.name)] = node.device;
      right = false;
    }
    if (right) return text;
  }
}

// Sorted by name, each name once.
Result<std::vector<NamedNode>> distinct_names(std::span<const NamedNode> nodes) {
  std::vector<NamedNode> names(nodes.begin(), nodes.end());
  std::sort(names.begin(), names.end(), [](const NamedNode& a, const NamedNode& b) {
    return a.name != b.name ? a.name < b.name : a.device < b.device;
  });
  if (!names.empty() && names.front().name.empty()) {
    return Status::invalid("a node of the model has no name");
  }
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i].name == names[i - 1].name && names[i].device != names[i - 1].device) {
      return Status::invalid("nodes on different devices have the same name " +
                             in_quotes(names[i].name));
    }
  }
  const auto same = [](const NamedNode& a, const NamedNode& b) { return a.name == b.name; };
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
  return names;
}

// Of the devices, those that nodes are on, in their order; nodes then have these numbers.
std::vector<std::string> number_used(std::vector<NamedNode>& names,
                                     std::span<const std::string> engine) {
  std::vector<uint32_t> number(engine.size(), kNoIndex);
  for (const NamedNode& node : names) number[node.device] = 0;
  std::vector<std::string> used;
  for (size_t d = 0; d < engine.size(); ++d) {
    if (number[d] == kNoIndex) continue;
    number[d] = static_cast<uint32_t>(used.size());
    used.push_back(engine[d]);
  }
  for (NamedNode& node : names) node.device = number[node.device];
  return used;
}

}  // namespace

Result<std::string> name_rules(std::span<const NamedNode> nodes,
                               std::span<const std::string> engine) {
  Result<std::vector<NamedNode>> names = distinct_names(nodes);
  if (!names.ok()) return names.status();
  if (names->empty()) return std::string();
  const std::vector<std::string> used = number_used(*names, engine);
  std::string best;
  for (const size_t extension :
       {size_t{1}, size_t{2}, size_t{4}, size_t{8}, std::string::npos / 2}) {
    DeviceRules rules;
    if (!PrefixRules(*names, used.size(), extension).collect(rules)) continue;
    std::string text = repaired(std::move(rules), *names, used);
    if (!text.empty() && (best.empty() || text.size() < best.size())) best = std::move(text);
  }
  if (best.empty()) {
    return Status::invalid("no string of at most " + std::to_string(kMaxOptionBytes) +
                           " characters that names the nodes of each device was found");
  }
  return best;
}

}  // namespace placeto
