#include "tools/cli/import_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/graph_input.h"

namespace placeto::cli {
namespace {

Json describe(const std::vector<ModelTensor>& tensors) {
  Json list = Json::array();
  for (const ModelTensor& t : tensors) {
    list.push_back({{"name", t.name}, {"type", t.type}, {"shape", t.shape}});
  }
  return list;
}

// "2 If nodes, with up to 9 nodes inside, count as one node each; ... --set 'c=VALUE'"; "" if there
// are none.
std::string undecided_summary(const ImportReport& report) {
  if (report.undecided.empty()) return "";
  constexpr size_t kShown = 5;
  std::vector<std::string> inputs;
  uint64_t most = 0;
  for (const UndecidedIf& branches : report.undecided) {
    most = std::max(most, branches.nodes);
    for (const std::string& input : branches.inputs) {
      if (inputs.size() < kShown && std::ranges::find(inputs, input) == inputs.end()) {
        inputs.push_back(input);
      }
    }
  }
  std::string options;
  for (const std::string& input : inputs) options += fmt::format(" --set '{}=VALUE'", input);
  if (inputs.size() == kShown) options += " ...";
  const size_t count = report.undecided.size();
  return fmt::format("{}, with up to {} inside, {}; to place these, say what callers give:{}",
                     plural(count, "If node"), plural(most, "node"),
                     count == 1 ? "counts as one node" : "count as one node each", options);
}

// "the shapes of 14 nodes could not be inferred ...", with the first of them; "" if none has.
std::string unknown_summary(const ImportReport& report) {
  if (report.unknown.empty()) return "";
  constexpr size_t kShown = 5;
  std::string names;
  for (size_t i = 0; i < report.unknown.size() && i < kShown; ++i) {
    const UnknownShape& unknown = report.unknown[i];
    names += fmt::format("\n  {} ({}): {}", unknown.node, unknown.op, unknown.problem);
  }
  if (report.unknown.size() > kShown) {
    names +=
        fmt::format("\n  and {} more; import --json lists all", report.unknown.size() - kShown);
  }
  return fmt::format(
      "the shapes of {} could not be inferred in full, what is not known counts as "
      "empty:{}",
      plural(report.unknown.size(), "node"), names);
}

}  // namespace

Json json_of(const ImportReport& report) {
  Json opsets = Json::object(), inlined = Json::array(), unknown = Json::array();
  Json undecided = Json::array();
  for (const auto& [domain, version] : report.opsets) {
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  }
  for (const InlinedIf& branch : report.inlined) {
    inlined.push_back({{"node", branch.node}, {"branch", branch.branch}, {"nodes", branch.nodes}});
  }
  for (const UndecidedIf& branches : report.undecided) {
    undecided.push_back(
        {{"node", branches.node}, {"inputs", branches.inputs}, {"nodes", branches.nodes}});
  }
  for (const UnknownShape& shape : report.unknown) {
    unknown.push_back({{"node", shape.node}, {"op", shape.op}, {"problem", shape.problem}});
  }
  return {{"producer", report.producer},
          {"ir_version", report.ir_version},
          {"opsets", std::move(opsets)},
          {"inputs", describe(report.inputs)},
          {"outputs", describe(report.outputs)},
          {"free_dimensions", report.symbols},
          {"parameters", report.parameters},
          {"parameter_bytes", report.parameter_bytes},
          {"external_bytes", report.external_bytes},
          {"flops", report.flops},
          {"inlined", std::move(inlined)},
          {"undecided", std::move(undecided)},
          {"unknown", std::move(unknown)}};
}

void note_unknown(const std::string& path, const ImportReport& report) {
  for (const std::string& summary : {undecided_summary(report), unknown_summary(report)}) {
    if (!summary.empty()) note(as_given(path + ": " + summary));
  }
}

}  // namespace placeto::cli
