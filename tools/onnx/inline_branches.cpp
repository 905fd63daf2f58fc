#include "tools/onnx/inline_branches.h"

#include <functional>
#include <map>
#include <set>

#include "runtime/graph/text.h"
#include "tools/onnx/bodies.h"

namespace placeto {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using Renames = std::map<std::string, std::string>;

const std::string& renamed(const Renames& renames, const std::string& name) {
  const auto it = renames.find(name);
  return it == renames.end() ? name : it->second;
}

// Calls visit for the name of each tensor that the graph itself defines.
template <typename Visit>
void for_each_definition(GraphProto& graph, Visit visit) {
  const auto named = [&](std::string& name) {
    if (!name.empty()) visit(name);
  };
  for (auto& input : *graph.mutable_input()) named(*input.mutable_name());
  for (auto& tensor : *graph.mutable_initializer()) named(*tensor.mutable_name());
  for (auto& tensor : *graph.mutable_sparse_initializer()) {
    named(*tensor.mutable_values()->mutable_name());
  }
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& output : *node.mutable_output()) named(output);
  }
}

using Names = std::set<std::string>;

void add_names(GraphProto& graph, Names& names) {
  for_each_definition(graph, [&](const std::string& name) { names.insert(name); });
}

void add_body_names(GraphProto& graph, Names& names) {
  for (NodeProto& node : *graph.mutable_node()) {
    for_each_body(node, [&](GraphProto& body) {
      add_names(body, names);
      add_body_names(body, names);
    });
  }
}

// New names in bodies: for what they read from outside, and for what they define themselves where
// the graph around has a tensor of that name. Engines refuse a body that defines such a one, and it
// would hide a tensor that got its name only now.
class BodyRenames {
 public:
  // `own_name` says what a body's own tensor is called from now on.
  using OwnName = std::function<std::string(const std::string&)>;
  BodyRenames(const Renames& outside, OwnName own_name)
      : outside_(outside), own_name_(std::move(own_name)) {}

  void rename_bodies(NodeProto& node) {
    for_each_body(node, [&](GraphProto& body) { rename(body); });
  }

 private:
  void rename(GraphProto& graph) {
    Renames own;
    for_each_definition(graph, [&](const std::string& name) {
      const auto [entry, first] = own.try_emplace(name);
      if (first) inner_[name].push_back(entry->second = own_name_(name));
    });
    for (NodeProto& node : *graph.mutable_node()) {
      for (std::string& input : *node.mutable_input()) input = new_name(input);
      rename_bodies(node);
    }
    for (auto& output : *graph.mutable_output()) output.set_name(new_name(output.name()));
    for (auto& tensor : *graph.mutable_value_info()) tensor.set_name(new_name(tensor.name()));
    for (const auto& [name, entry] : own) inner_[name].pop_back();
    for_each_definition(graph, [&](std::string& name) { name = own.at(name); });
  }
  std::string new_name(const std::string& name) const {
    const auto inner = inner_.find(name);
    return inner != inner_.end() && !inner->second.empty() ? inner->second.back()
                                                           : renamed(outside_, name);
  }

  const Renames& outside_;
  const OwnName own_name_;
  // What names mean in the body at hand, the innermost meaning last.
  std::map<std::string, std::vector<std::string>> inner_;
};

class Inliner {
 public:
  Inliner(OnnxModel& model, const Decisions& decisions)
      : graph_(*model.proto.mutable_graph()), decisions_(decisions) {
    add_names(graph_, tensors_);
    add_body_names(graph_, body_tensors_);
    nodes_.insert(model.node_names.begin(), model.node_names.end());
  }

  std::vector<InlinedBranch> run(const std::vector<std::string>& names) {
    google::protobuf::RepeatedPtrField<NodeProto> old;
    old.Swap(graph_.mutable_node());
    for (int i = 0; i < old.size(); ++i) {
      NodeProto& node = *old.Mutable(i);
      const auto decision = decisions_.find(&node);
      node.set_name(names[static_cast<size_t>(i)]);
      if (decision == decisions_.end() || !splice(node, decision->second, {})) {
        graph_.add_node()->Swap(&node);
      }
    }
    // Bodies were there before some of the names around them.
    Names around;
    add_names(graph_, around);
    for (NodeProto& node : *graph_.mutable_node()) rename_bodies(node, {}, around);
    return std::move(report_);
  }

 private:
  static GraphProto* branch_of(NodeProto& node, bool then_branch) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.name() == (then_branch ? "then_branch" : "else_branch") && attribute.has_g()) {
        return attribute.mutable_g();
      }
    }
    return nullptr;
  }

  // The name if nobody has it, or else one that begins with the If's.
  std::string fresh(Names& taken, const std::string& place, const std::string& name) {
    std::string unique = name;
    if (taken.insert(unique).second) return unique;
    const std::string inside = place + "/" + name;
    unique = inside;
    while (!taken.insert(unique).second) unique = inside + "_" + std::to_string(++repeated_);
    return unique;
  }

  // The If's name and outputs are those that they have in the main graph already.
  bool splice(NodeProto& node, bool then_branch, const Renames& outer) {
    GraphProto* branch = branch_of(node, then_branch);
    if (branch == nullptr || branch->output_size() < node.output_size()) return false;
    copied_ += outer.size();
    if (copied_ > kMostCopied) return false;
    const size_t entry = report_.size();
    report_.push_back({node.name(), then_branch, 0});
    const auto before = graph_.node_size();
    Renames renames = outer;
    std::vector<bool> computed = name_results(node, *branch, renames);
    move_initializers(node.name(), *branch, renames);
    for (NodeProto& inner : *branch->mutable_node()) add(node.name(), inner, renames);
    for (int k = 0; k < node.output_size(); ++k) {
      if (node.output(k).empty() || computed[static_cast<size_t>(k)]) continue;
      NodeProto& copy = *graph_.add_node();
      copy.set_op_type("Identity");
      copy.set_name(fresh(nodes_, node.name(), node.name() + "/result_" + std::to_string(k)));
      copy.add_input(renamed(renames, branch->output(k).name()));
      copy.add_output(node.output(k));
    }
    for (auto& tensor : *branch->mutable_value_info()) {
      tensor.set_name(renamed(renames, tensor.name()));
      graph_.add_value_info()->Swap(&tensor);
    }
    report_[entry].nodes = static_cast<uint64_t>(graph_.node_size() - before);
    return true;
  }

  // Names for all that the branch computes: its results are called like the If's outputs. True for
  // those that it computes itself.
  std::vector<bool> name_results(const NodeProto& node, const GraphProto& branch,
                                 Renames& renames) {
    Renames results;
    std::vector<bool> computed(static_cast<size_t>(node.output_size()), false);
    std::map<std::string, size_t> wanted;
    for (int k = 0; k < node.output_size(); ++k) {
      if (!node.output(k).empty()) wanted.emplace(branch.output(k).name(), static_cast<size_t>(k));
    }
    for (const NodeProto& inner : branch.node()) {
      for (const std::string& output : inner.output()) {
        if (output.empty()) continue;
        const auto result = wanted.find(output);
        if (result == wanted.end()) {
          renames[output] = fresh(tensors_, node.name(), output);
          continue;
        }
        computed[result->second] = true;
        renames[output] = node.output(static_cast<int>(result->second));
      }
    }
    return computed;
  }

  void move_initializers(const std::string& place, GraphProto& branch, Renames& renames) {
    for (auto& tensor : *branch.mutable_initializer()) {
      const std::string name = fresh(tensors_, place, tensor.name());
      renames[tensor.name()] = name;
      tensor.set_name(name);
      graph_.add_initializer()->Swap(&tensor);
    }
    for (auto& tensor : *branch.mutable_sparse_initializer()) {
      const std::string name = fresh(tensors_, place, tensor.values().name());
      renames[tensor.values().name()] = name;
      tensor.mutable_values()->set_name(name);
      graph_.add_sparse_initializer()->Swap(&tensor);
    }
  }

  void add(const std::string& place, NodeProto& node, const Renames& renames) {
    const std::string plain = check_name(node.name(), {}).ok()
                                  ? node.name()
                                  : place + "/" + node.op_type() + "_" + std::to_string(++unnamed_);
    node.set_name(fresh(nodes_, place, plain));
    for (std::string& input : *node.mutable_input()) input = renamed(renames, input);
    for (std::string& output : *node.mutable_output()) output = renamed(renames, output);
    const auto decision = decisions_.find(&node);
    if (decision != decisions_.end() && splice(node, decision->second, renames)) return;
    rename_bodies(node, renames, tensors_);
    graph_.add_node()->Swap(&node);
  }

  void rename_bodies(NodeProto& node, const Renames& renames, const Names& around) {
    const auto own_name = [&](const std::string& name) {
      if (!around.contains(name)) return name;
      std::string own;
      do own = fresh(tensors_, node.name(), name);
      while (!body_tensors_.insert(own).second);
      return own;
    };
    BodyRenames(renames, own_name).rename_bodies(node);
  }

  GraphProto& graph_;
  const Decisions& decisions_;
  Names tensors_, nodes_, body_tensors_;
  std::vector<InlinedBranch> report_;
  // Names that nested branches took over from those around them: an If that would need more stays.
  static constexpr uint64_t kMostCopied = 10'000'000;
  uint64_t unnamed_ = 0, repeated_ = 0, copied_ = 0;
};

}  // namespace

std::vector<InlinedBranch> inline_branches(OnnxModel& model, const Decisions& decisions) {
  bool any = false;
  for (const NodeProto& node : model.proto.graph().node()) any |= decisions.contains(&node);
  if (!any) return {};
  const std::vector<std::string> names = model.node_names;
  std::vector<InlinedBranch> report = Inliner(model, decisions).run(names);
  model.node_names = onnx_node_names(model.proto.graph());
  return report;
}

}  // namespace placeto
