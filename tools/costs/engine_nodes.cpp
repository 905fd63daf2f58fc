#include "tools/costs/engine_nodes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "tools/costs/joined_names.h"
#include "tools/costs/operator_class.h"

namespace placeto {
namespace {

constexpr std::string_view kPrefixes[] = {"fused ", "fused_"};
// What onnxruntime/core/optimizer appends to the name of a node or of its output.
constexpr std::string_view kSuffixes[] = {"_nchwc",
                                          "_nhwc",
                                          "_quant",
                                          "_fused",
                                          "/MatMulAddFusion",
                                          "_gemm",
                                          "_Fusion",
                                          "_qlinear",
                                          "_mul_fusion",
                                          "_transformed",
                                          "_kernel",
                                          "/",
                                          "_transpose_fusion",
                                          "/WithoutBiases"};  // the last: OpenVINO
// What TensorRT's parser puts before the output of a node without a name.
constexpr std::string_view kOfOutput = "node_of_";

// Names as long as this are told from words that happen to occur in others.
constexpr size_t kLeastContained = 6;
constexpr size_t kLongestContained = 256;

struct Numbered {
  std::string_view op;
  uint32_t number = 0;
};

// "Conv_12"
std::optional<Numbered> split_number(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  Numbered parts{name.substr(0, underscore)};
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + underscore + 1, end, parts.number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return parts;
}

// Whether the naming rule of models (tools/onnx/model.h) made the name: "<op>_<v>", and "_" behind
// it where another node has that.
bool has_made_up_name(const Graph& graph, uint32_t v) {
  const NodeSpec& node = graph.node(v);
  const std::string plain = node.op + "_" + std::to_string(v);
  return node.name.starts_with(plain) &&
         node.name.find_first_not_of('_', plain.size()) == std::string::npos;
}

class Names {
 public:
  Names(const Graph& graph, std::span<const NodeOutputs> outputs) : graph_(graph) {
    for (uint32_t v = 0; v < graph.node_count(); ++v) by_name_.emplace(graph.node(v).name, v);
    for (uint32_t v = 0; v < outputs.size(); ++v) {
      for (const std::string& output : outputs[v].names) {
        if (!output.empty()) by_name_.emplace(output, v);
      }
    }
  }

  uint32_t find(const ProfiledNode& node) {
    // An index below the number of nodes is that of a node of the model. Names of the model that
    // look like numbers, and those that several of its nodes have, do not lead away from it.
    const bool indexed = node.index < graph_.node_count() && graph_.node(node.index).op == node.op;
    if (indexed && has_made_up_name(graph_, node.index)) return node.index;
    std::string_view name = node.name;
    if (const uint32_t v = exact(name); v != kNoIndex) return v;
    if (const auto number = split_number(name);
        number && number->number < graph_.node_count() &&
        (node.index == kNoIndex || node.index == number->number) &&
        graph_.node(number->number).op == number->op) {
      return number->number;
    }
    for (bool changed = true; changed;) {
      changed = shorten(name);
      if (const uint32_t v = exact(name); changed && v != kNoIndex) return v;
    }
    return longest_contained(node.name);
  }

  // Those that a joined name names, each once.
  std::vector<uint32_t> find_all(const std::string& name, RangeWalk& walk) const {
    const auto lookup = [this](std::string_view one) {
      const uint32_t v = exact(one);
      if (v != kNoIndex || !one.starts_with(kOfOutput)) return v;
      return exact(one.substr(kOfOutput.size()));
    };
    if (const uint32_t v = lookup(name); v != kNoIndex) return {v};
    return joined_nodes(name, lookup, walk);
  }

 private:
  uint32_t exact(std::string_view name) const {
    if (name.size() > Limits().max_name_bytes) return kNoIndex;
    const auto it = by_name_.find(std::string(name));
    return it == by_name_.end() ? kNoIndex : it->second;
  }

  // The same for parts of a name, until too much was tried.
  uint32_t guess(std::string_view name) {
    left_ -= std::min<uint64_t>(left_, name.size());
    return left_ > 0 ? exact(name) : kNoIndex;
  }

  static bool shorten(std::string_view& name) {
    for (std::string_view prefix : kPrefixes) {
      if (name.starts_with(prefix)) return name.remove_prefix(prefix.size()), true;
    }
    for (std::string_view suffix : kSuffixes) {
      if (name.ends_with(suffix)) return name.remove_suffix(suffix.size()), true;
    }
    const size_t token = name.rfind("_token_");  // a counter that keeps names unique
    if (token != std::string_view::npos && token > 0) return name = name.substr(0, token), true;
    return false;
  }

  uint32_t longest_contained(const std::string& name) {
    uint32_t best = kNoIndex;
    size_t length = kLeastContained - 1;
    if (name.size() > Limits().max_name_bytes) return best;
    // All substrings of one name are fewer than all names of a large graph times its length.
    for (size_t begin = 0; begin < name.size() && left_ > 0; ++begin) {
      for (size_t n = std::min(name.size() - begin, kLongestContained); n > length; --n) {
        const uint32_t v = guess(std::string_view(name).substr(begin, n));
        if (v == kNoIndex) continue;
        best = v, length = n;
        break;
      }
    }
    return best;
  }

  const Graph& graph_;
  std::map<std::string, uint32_t> by_name_;
  uint64_t left_ = 10'000'000'000;  // bytes of parts of names to try; some seconds
};

bool changes_layout(const std::string& op) {
  return op == "ReorderInput" || op == "ReorderOutput";
}

// Whether the engine's node can stand for one with the operator `op`: a transposition that the
// optimizer put in stands for no product. Fused ones stand for work of any kind.
bool may_stand_for(const std::string& engine_op, const std::string& op) {
  if (engine_op == op) return true;
  const OperatorClass wanted = operator_class_of(engine_op), is = operator_class_of(op);
  const auto moves = [](OperatorClass c) {
    return c == OperatorClass::kMovement || c == OperatorClass::kView;
  };
  return !moves(wanted) && !moves(is);
}

// Nodes without a place by name, in the order of execution.
class Positions {
 public:
  Positions(const Graph& graph, const EngineNodes& known)
      : graph_(graph), claimed_(graph.node_count(), false), seen_(graph.node_count(), 0) {
    for (uint32_t v : known.by_name) {
      if (v != kNoIndex) claimed_[v] = true;
    }
  }

  // Nearest node at or behind `from` that nothing stands for and whose outputs have that size.
  uint32_t find(uint32_t from, const ProfiledNode& node) {
    ++search_;
    queue_.assign(1, from);
    seen_[from] = search_;
    for (size_t at = 0; at < queue_.size() && at < kMostVisited; ++at) {
      const uint32_t v = queue_[at];
      if (fits(v, node)) return claimed_[v] = true, v;
      for (const OutEdge& edge : graph_.out_edges(v)) {
        if (queue_.size() >= kMostVisited) break;
        if (seen_[edge.target] == search_) continue;
        seen_[edge.target] = search_;
        queue_.push_back(edge.target);
      }
    }
    return kNoIndex;
  }

 private:
  static constexpr size_t kMostVisited = 48;  // a fused node stands for a dozen at most

  bool fits(uint32_t v, const ProfiledNode& node) const {
    const NodeSpec& spec = graph_.node(v);
    if (claimed_[v] || !may_stand_for(node.op, spec.op)) return false;
    return std::accumulate(spec.outputs.begin(), spec.outputs.end(), uint64_t{0}) ==
           node.output_bytes;
  }

  const Graph& graph_;
  std::vector<bool> claimed_;
  std::vector<uint32_t> seen_, queue_;
  uint32_t search_ = 0;
};

void place_by_size(const Graph& graph, const Profile& profile, EngineNodes& nodes) {
  constexpr size_t kRecent = 8;  // the one that ran just before may be of another branch
  Positions positions(graph, nodes);
  std::vector<uint32_t> recent;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const ProfiledNode& node = profile.nodes[i];
    uint32_t& place = nodes.node_of[i];
    const bool wanted = place == kNoIndex && node.output_bytes > 0 && !changes_layout(node.op);
    for (size_t r = recent.size(); wanted && place == kNoIndex && r-- > 0;) {
      place = positions.find(recent[r], node);
    }
    if (place == kNoIndex) continue;
    if (recent.size() == kRecent) recent.erase(recent.begin());
    recent.push_back(place);
  }
}

}  // namespace

EngineNodes match_engine_nodes(const Graph& graph, std::span<const NodeOutputs> outputs,
                               const Profile& profile) {
  Names names(graph, outputs);
  EngineNodes nodes;
  RangeWalk walk(graph);
  for (const ProfiledNode& node : profile.nodes) {
    auto& joined = nodes.joined.emplace_back();
    if (node.naming == Naming::kJoined) joined = names.find_all(node.name, walk);
    const bool named = node.naming != Naming::kNone;
    nodes.by_name.push_back(!joined.empty() ? joined.front() : named ? names.find(node) : kNoIndex);
  }
  nodes.node_of = nodes.by_name;
  place_by_size(graph, profile, nodes);
  return nodes;
}

}  // namespace placeto
