// Graphs of ONNX models and files, and the stages that a model is divided into.
#include "runtime/base/message.h"
#include "tools/capi/bridge.h"
#include "tools/capi/options.h"
#include "tools/costs/sources.h"
#include "tools/export/onnx_export.h"
#include "tools/io/read.h"
#include "tools/io/write.h"
#include "tools/onnx/import.h"
#include "tools/onnx/without_weights.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

void tell_unknown(const ImportReport& report, const Options& options) {
  for (const UnknownShape& unknown : report.unknown) {
    options.note(join({unknown.node, " (", unknown.op, "): ", unknown.problem}));
  }
}

Status hand_out_model(Result<ImportedGraph> imported, const Options& options,
                      placeto_graph** graph) {
  if (!imported.ok()) return imported.status();
  const auto profiles = add_costs(options.costs, imported->outputs, imported->spec);
  if (!profiles.ok()) return profiles.status();
  for (const ProfileUse& use : *profiles) {
    if (const std::string text = use.note_on_shapes(); !text.empty()) options.note(text);
  }
  tell_unknown(imported->report, options);
  return capi::hand_out(imported->spec, options.limits, graph);
}

Status hand_out_graph(const Result<Graph>& read, const Options& options, placeto_graph** graph) {
  if (!read.ok()) return read.status();
  return capi::hand_out(read->spec(), options.limits, graph);
}

}  // namespace

placeto_status placeto_onnx_load_graph(const char* path, const placeto_onnx_options* options,
                                       placeto_graph** graph, placeto_error* error) noexcept {
  if (graph != nullptr) *graph = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{path, "path"}, {graph, "graph"}}); !s.ok()) return s;
    Options given;
    if (Status s = read_options(options, given); !s.ok()) return s;
    const std::string name = file_name(path);
    if (!is_onnx_file(name)) {
      return hand_out_graph(read_graph(name, given.import.limits), given, graph);
    }
    return hand_out_model(import_onnx(name, given.import), given, graph);
  });
}

placeto_status placeto_onnx_load_graph_memory(const void* bytes, size_t size, const char* name,
                                              const placeto_onnx_options* options,
                                              placeto_graph** graph,
                                              placeto_error* error) noexcept {
  if (graph != nullptr) *graph = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{bytes, "bytes"}, {graph, "graph"}}); !s.ok()) return s;
    Options given;
    if (Status s = read_options(options, given); !s.ok()) return s;
    const std::span<const uint8_t> content = as_bytes(bytes, size);
    const std::string title = name == nullptr ? "model" : name;
    if (is_onnx(content)) {
      return hand_out_model(import_onnx(content, title, given.import), given, graph);
    }
    return hand_out_graph(parse_graph({content.begin(), content.end()}, title, given.import.limits),
                          given, graph);
  });
}

placeto_status placeto_onnx_placement_json(const placeto_placement* placement, void* buffer,
                                           size_t capacity, size_t* size,
                                           placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {size, "size"}}); !s.ok()) return s;
    PlacementSpec spec;
    if (Status s = take_in(placement, spec); !s.ok()) return s;
    const Result<std::string> text = to_json(spec);
    if (!text.ok()) return text.status();
    return copy_out(as_bytes(text->data(), text->size()), buffer, capacity, size);
  });
}

placeto_status placeto_onnx_write_stages(const char* model, const placeto_onnx_options* options,
                                         const placeto_placement* placement, int32_t stages,
                                         const char* directory, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s =
            check_not_null({{model, "model"}, {placement, "placement"}, {directory, "directory"}});
        !s.ok()) {
      return s;
    }
    if (Status s = check_choice("stages", stages, 4); !s.ok()) return s;
    Options given;
    if (Status s = read_options(options, given); !s.ok()) return s;
    PlacementSpec spec;
    if (Status s = take_in(placement, spec); !s.ok()) return s;
    const std::string path = file_name(model);
    const Result<Placed> placed = placed_model(path, spec, given.import.settings);
    if (!placed.ok()) return placed.status();
    const Result<PlacedModel> whole = PlacedModel::read(path, *placed, given.import.settings);
    if (!whole.ok()) return whole.status();
    std::optional<StageRule> rule;
    if (stages == PLACETO_ONNX_STAGES_FEWEST) rule = StageRule::kFewest;
    if (stages == PLACETO_ONNX_STAGES_OVERLAP) rule = StageRule::kOverlap;
    if (stages == PLACETO_ONNX_STAGES_CROSSINGS) rule = StageRule::kCrossings;
    return whole->write_stages(directory, rule).status();
  });
}
