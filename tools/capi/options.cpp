#include "tools/capi/options.h"

namespace placeto::capi {
namespace {

// Texts of a list, each parsed.
template <class Setting>
Status read_settings(const char* name, const char* const* from, size_t count,
                     Result<Setting> (*parse)(const std::string&), std::vector<Setting>& to) {
  std::vector<std::string> texts;
  if (Status s = read_texts(name, from, count, texts); !s.ok()) return s;
  for (const std::string& text : texts) {
    Result<Setting> setting = parse(text);
    if (!setting.ok()) return setting.status();
    to.push_back(*std::move(setting));
  }
  return {};
}

}  // namespace

Status read_options(const placeto_onnx_options* from, Options& to) {
  if (from == nullptr) return {};
  placeto_onnx_options o = {};
  Status status = read_struct("placeto_onnx_options", from, o);
  if (status.ok()) status = read_limits(o.limits, to.import.limits);
  if (o.limits != nullptr) to.import.max_file_bytes = to.import.limits.max_file_bytes;
  ModelSettings& settings = to.import.settings;
  if (status.ok()) {
    status = read_settings("dims", o.dims, o.dim_count, parse_dim_setting, settings.dims);
  }
  if (status.ok()) {
    status = read_settings("values", o.values, o.value_count, parse_input_setting, settings.inputs);
  }
  if (status.ok()) {
    status = read_settings("shapes", o.shapes, o.shape_count, parse_shape_setting, settings.shapes);
  }
  CostSources& costs = to.costs;
  if (status.ok()) status = read_texts("profiles", o.profiles, o.profile_count, costs.profiles);
  if (status.ok()) status = read_texts("tables", o.tables, o.table_count, costs.tables);
  if (status.ok()) {
    status = read_texts("efficiencies", o.efficiencies, o.efficiency_count, costs.efficiencies);
  }
  if (status.ok()) status = check_choice("copy_shared", o.copy_shared, 2);
  if (status.ok()) status = check_choice("tear_patterns", o.tear_patterns, 2);
  to.import.copy_shared = o.copy_shared != 0;
  if (o.tear_patterns != 0) to.import.patterns = {};
  to.limits = o.limits;
  to.on_note = o.on_note;
  to.note_context = o.note_context;
  return status;
}

}  // namespace placeto::capi

placeto_status placeto_onnx_default_options(placeto_onnx_options* options,
                                            size_t struct_size) noexcept {
  return placeto::capi::set_defaults(options, struct_size, placeto_onnx_options{});
}

uint32_t placeto_onnx_version(void) noexcept {
  return PLACETO_VERSION;
}

int32_t placeto_onnx_has_onnx(void) noexcept {
  return placeto::have_onnx() ? 1 : 0;
}
