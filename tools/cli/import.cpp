// placeto import: the graph of an ONNX model.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/import_report.h"

namespace placeto::cli {
namespace {

constexpr const char* kImportExamples = R"(Examples:
  placeto import model.onnx -o graph.json
  placeto import model.onnx --dim batch=1 --dim seq=128 -o graph.plg
  placeto import model.onnx --dim '*=1' --dim 'image[2]=320' --dim 'image[3]=320' -o graph.json
  placeto import model.onnx --profile cpu=cpu.json --profile gpu=gpu.json -o graph.json
  placeto import model.onnx --costs measured.csv --efficiencies npu.json -o graph.json

The file is JSON if its name ends in .json or it is -, binary otherwise. `placeto place` and the
other commands take models directly, with the same options.)";

struct ImportOptions {
  Common common;
  std::string model, out;
  ModelOptions import;
};

Json describe(const Coverage& coverage) {
  return {{"profiled_nodes", coverage.profiled},        {"profiled_us", coverage.profiled_us},
          {"matched_nodes", coverage.by_name},          {"matched_us", coverage.by_name_us},
          {"matched_share", coverage.share()},          {"measured_nodes", coverage.measured},
          {"absorbed_nodes", coverage.absorbed},        {"missing_nodes", coverage.missing},
          {"compared_nodes", coverage.shapes.compared}, {"unlike_nodes", coverage.shapes.unlike}};
}

Json describe(const ModelGraph& imported, const std::string& out) {
  Json profiles = Json::array();
  for (const ProfileUse& use : imported.profiles) {
    Json entry = describe(use.coverage);
    entry["kind"] = use.kind;
    entry["file"] = use.file;
    profiles.push_back(std::move(entry));
  }
  Json object{{"name", imported.spec.name},          {"file", out},
              {"nodes", imported.spec.nodes.size()}, {"edges", imported.spec.edges.size()},
              {"opset", imported.report.opset},      {"kinds", imported.spec.kinds},
              {"profiles", std::move(profiles)}};
  object.update(json_of(imported.report));
  return object;
}

std::string summary(const ModelGraph& imported, const std::string& out) {
  const ImportReport& report = imported.report;
  std::string text = fmt::format("{}: {} ({}, {})\n", printable(out), printable(imported.spec.name),
                                 plural(imported.spec.nodes.size(), "node"),
                                 plural(imported.spec.edges.size(), "edge"));
  text += fmt::format("opset {}, {} in {}{}, {:.3g} Gflop\n", report.opset,
                      plural(report.parameters, "parameter"), format_bytes(report.parameter_bytes),
                      report.external_bytes != 0 ? fmt::format(" ({} in external files)",
                                                               format_bytes(report.external_bytes))
                                                 : "",
                      static_cast<double>(report.flops) * 1e-9);
  for (const ProfileUse& use : imported.profiles) {
    const Coverage& c = use.coverage;
    text += fmt::format(
        "{}: {} of {} measured nodes found by name, {:.1f}% of {}; {} of the graph measured, {} "
        "fused or folded{}\n",
        printable(use.file), format_count(c.by_name), format_count(c.profiled), 100 * c.share(),
        format_us(c.profiled_us), plural(c.measured, "node"), format_count(c.absorbed),
        c.missing == 0 ? "" : fmt::format(", {} missing", format_count(c.missing)));
  }
  return text;
}

void run_import(const ImportOptions& options) {
  check_outputs({options.out});
  const ModelGraph imported = import_model(options.model, options.import);
  if (options.common.json) {
    print_json(describe(imported, options.out));
  } else {
    print_done(summary(imported, options.out));
  }
  write_spec(options.out, imported.spec);
  note_unknown(options.model, imported.report);
}

}  // namespace

void add_import(Program& program) {
  Command& command = program.add("import", "Make the graph of an ONNX model");
  auto options = std::make_shared<ImportOptions>();
  command.argument("MODEL", options->model, "ONNX file").required();
  command.option("-o,--output", "FILE", options->out, "Graph file to write").required().writes();
  add_common(command, options->common);
  add_model_options(command, options->import);
  command.footer(kImportExamples);
  command.action([options] { run_import(*options); });
}

}  // namespace placeto::cli
