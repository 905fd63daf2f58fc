#include "tools/cli/graph_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "runtime/format/file.h"
#include "runtime/format/file_kind.h"
#include "tools/cli/common.h"
#include "tools/cli/foreign_model.h"
#include "tools/costs/efficiency_file.h"
#include "tools/io/read.h"
#include "tools/onnx/without_weights.h"

namespace placeto::cli {
namespace {

constexpr uint64_t kMaxTableBytes = 256 << 20;

ProfileUse split_profile(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Failure(kBadUsage, fmt::format("--profile '{}': expected KIND=FILE, such as "
                                         "cpu=profile.json",
                                         text));
  }
  return {text.substr(0, equals), text.substr(equals + 1), {}};
}

std::vector<KindCosts> read_table(const Graph& graph, const std::string& path) {
  const auto bytes = require(read_file(path, kMaxTableBytes));
  auto costs = costs_from_table(graph, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!costs.ok()) require(costs.status().at(path));
  return *std::move(costs);
}

void add_costs(const std::string& path, const ImportedGraph& imported, const ModelOptions& options,
               ModelGraph& model) {
  const Graph graph = require(Graph::build(imported.spec));
  std::vector<KindCosts> measured;
  for (const std::string& text : options.profiles) {
    ProfileUse use = split_profile(text);
    const Profile profile = require(read_profile(use.file));
    auto costs = costs_from_profile(graph, imported.output_names, profile, use.kind, use.coverage);
    if (!costs.ok()) require(costs.status().at(use.file));
    measured.push_back(*std::move(costs));
    model.profiles.push_back(std::move(use));
  }
  for (const std::string& file : options.tables) {
    for (KindCosts& costs : read_table(graph, file)) measured.push_back(std::move(costs));
  }
  std::vector<Efficiencies> estimates;
  for (const std::string& file : options.efficiencies) {
    estimates.push_back(require(read_efficiencies(file)));
  }
  const Status status = set_costs(graph, measured, estimates, model.spec);
  if (!status.ok()) require(status.at(path));
}

// What is read through a name that is not the caller's, and the caller's own.
struct Readable {
  std::string path, shown;

  // The same failure in the caller's words.
  Failure named(const Failure& failure) const {
    std::string message = failure.what();
    for (size_t at = message.find(path); at != std::string::npos; at = message.find(path, at)) {
      message.replace(at, path.size(), shown);
      at += shown.size();
    }
    return {failure.status, message};
  }
};

// Standard input and pipes can be read only once, and models are looked at before they are read.
Readable readable(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{4} << 30;
  static std::map<std::string, std::string> kept;
  struct stat info {};
  const bool is_pipe = stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  if (path != "-" && !is_pipe) return {path, path};
  const std::string shown = path == "-" ? "standard input" : path;
  std::string& memory = kept[path];
  if (memory.empty()) {
    const int from = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto bytes = require(read_descriptor(from, shown, kMaxBytes));
    const int to = memfd_create("input", MFD_CLOEXEC);
    size_t done = 0;
    while (to >= 0 && done < bytes.size()) {
      const ssize_t written = write(to, bytes.data() + done, bytes.size() - done);
      if (written < 0) break;
      done += static_cast<size_t>(written);
    }
    if (to < 0 || done < bytes.size())
      throw Failure(kInternalError, shown + ": does not fit memory");
    memory = fmt::format("/proc/self/fd/{}", to);
  }
  return {memory, shown};
}

ModelGraph import_readable(const std::string& path, const ModelOptions& options) {
  refuse_foreign_model(path);
  ImportOptions import;
  import.settings = model_settings(options);
  import.copy_shared = options.copy_shared;
  if (options.tear_patterns) import.patterns = {};
  const ImportedGraph imported = require(import_onnx(path, import));
  ModelGraph model{imported.spec, imported.report, {}};
  const bool costs =
      !options.profiles.empty() || !options.tables.empty() || !options.efficiencies.empty();
  if (costs) add_costs(path, imported, options, model);
  return model;
}

}  // namespace

void add_model_settings(Command& command, ModelOptions& options) {
  command.heading("Of ONNX models");
  command.list("--dim", "NAME=N", options.dims,
               "A number for a free dimension (batch=1), one axis of an input (x[0]=1) or all "
               "others (*=1); may be repeated, as --set and --shape");
  command.list("--set", "INPUT=VALUE", options.values,
               "A value that the input always has (use_cache_branch=false): it is no input any "
               "more, and branches that depend on it are decided");
  command.list(
      "--shape", "TENSOR=AxBxC", options.shapes,
      "The shape of an inner tensor (features=1x256x7x7, ids=1x128:int64) where an unknown "
      "operator hides it");
  command.heading("");
}

void add_model_options(Command& command, ModelOptions& options) {
  add_model_settings(command, options);
  command.heading("Of ONNX models");
  command.list("--profile", "KIND=FILE", options.profiles,
               "Run times on a kind of device, from ONNX Runtime's profile (repeatable)");
  command.list("--costs", "FILE", options.tables, "Run times, from lines node,kind,us");
  command.list("--efficiencies", "FILE", options.efficiencies,
               "What calibrate wrote; estimates what is not measured");
  command.flag("--copy-shared", options.copy_shared,
               "Copy large parameters that several nodes read to each device, instead of keeping "
               "those nodes together");
  command.flag("--tear-patterns", options.tear_patterns,
               "Let devices divide what engines run as one operator (a convolution with its "
               "activation, an operator with its quantization)");
  command.heading("");
}

ModelSettings model_settings(const ModelOptions& options) {
  ModelSettings settings;
  for (const std::string& text : options.dims) {
    settings.dims.push_back(require(parse_dim_setting(text)));
  }
  for (const std::string& text : options.values) {
    settings.inputs.push_back(require(parse_input_setting(text)));
  }
  for (const std::string& text : options.shapes) {
    settings.shapes.push_back(require(parse_shape_setting(text)));
  }
  return settings;
}

bool is_onnx_file(const std::string& path) {
  const std::string name = readable(path).path;
  struct stat info = {};
  if (stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return false;
  std::array<uint8_t, 16> head{};
  const size_t length = std::fread(head.data(), 1, head.size(), file.get());
  const std::span<const uint8_t> start(head.data(), length);
  return detect(start) == FileKind::kUnknown && looks_like_onnx(start);
}

AnySpec load_any(const std::string& path) {
  const Readable file = readable(path);
  try {
    return require(read_any(file.path));
  } catch (const Failure& failure) {
    throw file.named(failure);
  }
}

ModelGraph import_model(const std::string& path, const ModelOptions& options) {
  const Readable file = readable(path);
  try {
    return import_readable(file.path, options);
  } catch (const Failure& failure) {
    throw file.named(failure);
  }
}

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

Graph load_graph(const std::string& path, const ModelOptions& options) {
  if (is_onnx_file(path)) {
    ModelGraph model = import_model(path, options);
    const std::string unknown = unknown_summary(model.report);
    if (!unknown.empty()) note(path + ": " + unknown);
    return require(Graph::build(std::move(model.spec)));
  }
  const Readable file = readable(path);
  try {
    refuse_foreign_model(file.path);
  } catch (const Failure& failure) {
    throw file.named(failure);
  }
  Result<Graph> graph = read_graph(file.path);
  if (!graph.ok()) {
    throw file.named(Failure(exit_status(graph.status()), graph.status().message()));
  }
  if (options.any()) {
    throw Failure(kBadUsage,
                  path +
                      ": is no ONNX model, so it takes no --dim, --profile, --costs, "
                      "--efficiencies, --set, --shape, --copy-shared or --tear-patterns");
  }
  return *std::move(graph);
}

}  // namespace placeto::cli
