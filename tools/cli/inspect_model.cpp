#include "tools/cli/inspect_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/cli/import_report.h"
#include "tools/cli/inspect_kinds.h"

namespace placeto::cli {
namespace {

struct Figures {
  std::map<std::string, uint64_t> ops;
  std::set<std::string> groups;
  uint64_t grouped = 0;
};

Figures measure(const GraphSpec& spec) {
  Figures figures;
  for (const NodeSpec& node : spec.nodes) {
    ++figures.ops[node.op];
    if (node.colocate.empty()) continue;
    figures.groups.insert(node.colocate);
    ++figures.grouped;
  }
  return figures;
}

Json describe(const ModelGraph& model) {
  const Figures figures = measure(model.spec);
  Json object{{"kind", "model"},
              {"name", model.spec.name},
              {"nodes", model.spec.nodes.size()},
              {"edges", model.spec.edges.size()},
              {"ops", figures.ops},
              {"kept_whole", figures.groups.size()},
              {"kept_whole_nodes", figures.grouped}};
  object.update(json_of(model.report));
  return object;
}

std::string tensor_text(const ModelTensor& tensor) {
  return fmt::format("{}: {}{}{}", tensor.name, tensor.type, tensor.shape.empty() ? "" : " ",
                     tensor.shape);
}

std::string summarize(const ModelGraph& model) {
  const ImportReport& report = model.report;
  const Figures figures = measure(model.spec);
  Table table({{"", Align::kLeft}, {"", Align::kLeft, true}});
  const auto add = [&](const char* what, const std::string& value) {
    table.add_row({what, value});
  };
  const auto add_tensors = [&](const char* what, const std::vector<ModelTensor>& tensors) {
    constexpr size_t kShown = 16;
    for (size_t i = 0; i < std::min(tensors.size(), kShown); ++i) {
      add(i == 0 ? what : "", tensor_text(tensors[i]));
    }
    if (tensors.size() > kShown) add("", fmt::format("and {} more", tensors.size() - kShown));
  };
  std::vector<std::string> opsets;
  for (const auto& [domain, version] : report.opsets) {
    opsets.push_back(fmt::format("{} {}", domain.empty() ? "ai.onnx" : domain, version));
  }
  add("model", model.spec.name);
  add("written by",
      fmt::format("{}, IR {}", report.producer.empty() ? "?" : report.producer, report.ir_version));
  add("operator sets", fmt::format("{}", fmt::join(opsets, ", ")));
  add_tensors("inputs", report.inputs);
  add_tensors("outputs", report.outputs);
  if (!report.symbols.empty()) {
    add("free dimensions",
        fmt::format("{} (1 each, unless --dim says otherwise)", fmt::join(report.symbols, ", ")));
  }
  add("parameters",
      fmt::format("{} in {}{}", format_count(report.parameters),
                  format_bytes(report.parameter_bytes),
                  report.external_bytes != 0
                      ? fmt::format(", {} in external files", format_bytes(report.external_bytes))
                      : ""));
  add("nodes", fmt::format("{}, {}", format_count(model.spec.nodes.size()),
                           plural(model.spec.edges.size(), "edge")));
  add("flops", format_si(static_cast<double>(report.flops)));
  add("kept whole", fmt::format("{} in {}", plural(figures.grouped, "node"),
                                plural(figures.groups.size(), "group")));
  for (const InlinedIf& branch : report.inlined) {
    add("inlined", fmt::format("{}: its {} branch, {}", branch.node, branch.branch,
                               plural(branch.nodes, "node")));
  }
  // All of them: an operator that is there once may be the one that matters.
  add("operators", ops_text(figures.ops, figures.ops.size()));
  return table.render();
}

}  // namespace

void inspect_model(const std::string& path, ModelOptions options, const Common& common) {
  const bool has_default =
      std::any_of(options.dims.begin(), options.dims.end(),
                  [](const std::string& dim) { return dim.starts_with("*="); });
  if (!has_default) options.dims.push_back("*=1");
  const ModelGraph model = import_model(path, options);
  if (common.json) {
    print_json(describe(model));
  } else {
    print(summarize(model));
  }
  note_unknown(path, model.report);
  const bool assumed = !has_default && !model.report.symbols.empty();
  if (assumed && !model.report.unknown.empty()) {
    note(as_given(path + ": free dimensions that no --dim sets count 1"));
  }
}

}  // namespace placeto::cli
