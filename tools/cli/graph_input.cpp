#include "tools/cli/graph_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "runtime/base/file_type.h"
#include "runtime/format/file.h"
#include "tools/cli/common.h"
#include "tools/cli/engine.h"
#include "tools/cli/files.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/import_report.h"
#include "tools/engine/manifest_reader.h"
#include "tools/io/bounded_json.h"
#include "tools/io/read.h"
#include "tools/onnx/without_weights.h"
#include "tools/options/units.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

// Names of what was kept in memory, by what the caller calls it.
std::map<std::string, std::string>& kept() {
  static std::map<std::string, std::string> names;
  return names;
}

std::string keep(int from, const std::string& shown) {
  constexpr uint64_t kMaxBytes = uint64_t{4} << 30;
  const auto bytes = require(read_descriptor(from, shown, kMaxBytes));
  const int to = memfd_create("input", MFD_CLOEXEC);
  size_t done = 0;
  while (to >= 0 && done < bytes.size()) {
    const ssize_t written = write(to, bytes.data() + done, bytes.size() - done);
    if (written < 0) break;
    done += static_cast<size_t>(written);
  }
  if (to < 0 || done < bytes.size()) throw Failure(kInternalError, shown + ": does not fit memory");
  return fmt::format("/proc/self/fd/{}", to);
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// The same with the files of its profiles and tables where they can be read again.
CostSources readable(CostSources sources) {
  for (std::string& profile : sources.profiles) {
    const size_t file = profile.find('=') + 1;
    profile.replace(file, std::string::npos, input_path(profile.substr(file)));
  }
  for (std::string& file : sources.tables) file = input_path(file);
  for (std::string& file : sources.efficiencies) {
    file = input_path(file);
    refuse_own_file(file, "what calibrate wrote");
  }
  return sources;
}

// "is what calibrate wrote, ...": of what commands write that is no AnySpec; "" for other files.
std::string other_file_of_ours(const std::string& file) {
  constexpr uint64_t kMaxBytes = 64 << 20, kMostValues = 1'000'000;
  std::error_code error;
  if (is_manifest(file)) {
    return fmt::format("{} the manifest of a split model, for 'placeto run'",
                       std::filesystem::is_directory(file, error) ? "holds" : "is");
  }
  const auto bytes = read_file(file, kMaxBytes);
  if (!bytes.ok()) return "";
  const Result<Json> tree = parse_bounded<Json>(as_text(*bytes), kMostValues);
  if (!tree.ok() || !tree->is_object()) return "";
  if (tree->contains("chosen") && tree->contains("contenders")) {
    return "is what tune measured, which 'placeto run' takes up from the directory that it is in";
  }
  if (tree->contains("classes") && tree->contains("peak_flops")) {
    return "is what calibrate wrote, for --efficiencies";
  }
  return "";
}

}  // namespace

void add_dim(Command& command, std::vector<std::string>& target) {
  command.list("--dim", "NAME=N", target,
               "A number for a free dimension (batch=1), one axis of an input (x[0]=1) or all "
               "others (*=1); may be repeated, as --set");
}

void add_set(Command& command, std::vector<std::string>& target) {
  command.list("--set", "INPUT=VALUE", target,
               "A value that the input always has (use_cache_branch=false): it is no input any "
               "more, and branches that depend on it are decided");
}

void add_model_settings(Command& command, ModelOptions& options) {
  command.heading("Of ONNX models");
  add_dim(command, options.dims);
  add_set(command, options.values);
  command.list(
      "--shape", "TENSOR=AxBxC", options.shapes,
      "The shape of an inner tensor (features=1x256x7x7, ids=1x128:int64) where an unknown "
      "operator hides it; may be repeated");
  command.heading("");
}

void add_model_options(Command& command, ModelOptions& options) {
  add_model_settings(command, options);
  command.heading("Of ONNX models");
  command.list(
      "--profile", "KIND=FILE", options.costs.profiles,
      "Run times on a kind of device, from a profile of ONNX Runtime, trtexec or benchmark_app "
      "(repeatable: for other kinds, and for parts of the model)");
  command.list("--costs", "FILE", options.costs.tables, "Run times, from lines node,kind,us");
  command.list("--efficiencies", "FILE", options.costs.efficiencies,
               "What calibrate wrote; estimates what is not measured");
  command.flag("--copy-shared", options.copy_shared,
               "Copy large parameters that several nodes read to each device, instead of keeping "
               "those nodes together");
  command.flag("--tear-patterns", options.tear_patterns,
               "Let devices divide what engines run as one operator (a convolution with its "
               "activation, an operator with its quantization)");
  command.heading("");
}

DimSetting dim_setting(const std::string& text) {
  const size_t number = text.rfind('=') + 1;
  uint64_t value = 0;
  if (number == 0 || !parse_large_count(text.substr(number), value)) {
    return require(parse_dim_setting(text));
  }
  return require(parse_dim_setting(text.substr(0, number) + std::to_string(value)));
}

ModelSettings model_settings(const ModelOptions& options) {
  ModelSettings settings;
  for (const std::string& text : options.dims) {
    settings.dims.push_back(dim_setting(text));
  }
  settings.dims =
      merged_dims(options.recorded, settings.dims, [](const std::string&) { return std::nullopt; });
  for (const std::string& text : options.values) {
    settings.inputs.push_back(require(parse_input_setting(text)));
  }
  for (const std::string& text : options.shapes) {
    settings.shapes.push_back(require(parse_shape_setting(text)));
  }
  return settings;
}

std::string input_path(const std::string& path) {
  struct stat info {};
  const bool is_pipe = stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  if (path != "-" && !is_pipe) {
    note_input(path);
    return path;
  }
  const std::string shown = path == "-" ? "standard input" : path;
  const auto found = kept().find(shown);
  if (found != kept().end()) return found->second;
  const int from = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return kept()[shown] = keep(from, shown);
}

std::string as_given(std::string message) {
  for (const auto& [shown, name] : kept()) replace_all(message, name, shown);
  replace_all(message, kDimWords, "--dim");
  replace_all(message, kValueWords, "--set");
  replace_all(message, kShapeWords, "--shape");
  constexpr std::string_view kStandardInput = "standard input";
  if (message.starts_with("-: ") || message.starts_with("- on ")) {
    message.replace(0, 1, kStandardInput);
  }
  if (const size_t at = message.find(" on -: "); at != std::string::npos) {
    message.replace(at + 4, 1, kStandardInput);
  }
  return message;
}

std::string readable_path(const std::string& path) {
  const std::string name = input_path(path);
  struct stat info {};
  if (access(name.c_str(), R_OK) != 0 || stat(name.c_str(), &info) != 0) {
    throw Failure(kBadInputFile, fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  }
  if (S_ISREG(info.st_mode)) return name;
  throw Failure(kBadInputFile, fmt::format("{}: {}", path, not_regular(info.st_mode)));
}

void fail_without_stages() {
  throw Failure(
      kBadUsage,
      "standard input: is a manifest, whose stages lie beside it; expected the name of its "
      "file or folder");
}

bool is_onnx_input(const std::string& path) {
  return is_onnx_file(input_path(path));
}

AnySpec load_any(const std::string& path) {
  const StatusLine line("reading " + path + " ...");
  const std::string file = input_path(path);
  Result<AnySpec> any = read_any(file);
  if (any.ok()) return require(std::move(any));
  if (find_engine(path)) {
    throw Failure(kBadInputFile, path + ": describes an engine, for --engine");
  }
  const std::string other = other_file_of_ours(file);
  if (other.empty()) return require(std::move(any));
  throw Failure(kBadInputFile, path + ": " + other);
}

// What does not fit may be the numbers, not the model.
static Result<ImportedGraph> with_dims(Result<ImportedGraph> imported,
                                       const ModelSettings& settings) {
  if (imported.ok() || settings.dims.empty()) return imported;
  const Status& status = imported.status();
  if (status.message().find("graph.node[") == std::string::npos) return imported;
  std::string numbers;
  for (const DimSetting& dim : settings.dims) numbers += " --dim '" + dim_text(dim) + "'";
  return Status(status.code(), status.message() + "; it was read with" + numbers);
}

ModelGraph import_model(const std::string& path, const ModelOptions& options) {
  const std::string file = input_path(path);
  refuse_foreign_model(file);
  refuse_own_file(file, "an ONNX model");
  note_model(file);
  ImportOptions import;
  import.settings = model_settings(options);
  import.copy_shared = options.copy_shared;
  if (options.tear_patterns) import.patterns = {};
  const ImportedGraph imported = require(with_dims(import_onnx(file, import), import.settings));
  ModelGraph model{imported.spec, imported.report, {}};
  for (const std::string& text : imported.report.corrected) note(as_given(path + ": " + text));
  model.profiles = require(add_costs(readable(options.costs), imported.outputs, model.spec));
  for (const ProfileUse& use : model.profiles) {
    if (const std::string text = use.note_on_shapes(); !text.empty()) note(as_given(text));
  }
  return model;
}

Graph load_graph(const std::string& path, const ModelOptions& options) {
  if (is_onnx_input(path)) {
    ModelGraph model = import_model(path, options);
    note_unknown(path, model.report);
    return require(Graph::build(std::move(model.spec)));
  }
  const std::string file = input_path(path);
  refuse_foreign_model(file);
  Graph graph = require(read_graph(file));
  if (options.any()) {
    throw Failure(kBadUsage,
                  path +
                      ": is no ONNX model, so it takes no --dim, --profile, --costs, "
                      "--efficiencies, --set, --shape, --copy-shared or --tear-patterns");
  }
  return graph;
}

}  // namespace placeto::cli
