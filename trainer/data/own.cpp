#include "trainer/data/own.h"

#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include "runtime/base/random.h"
#include "runtime/base/sha256.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/topology_file.h"
#include "runtime/heuristics/packing.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
#include "tools/onnx/import.h"
#include "tools/onnx/without_weights.h"
#include "tools/options/options.h"

namespace placeto::train {
namespace {

Result<TopologySpec> topology_of(const std::string& path) {
  if (!shipped::is_topology(path)) return read_topology_spec(path);
  const shipped::File* file = shipped::find(shipped::topologies(), path);
  const auto topology = parse_topology({file->bytes.begin(), file->bytes.end()}, path);
  if (!topology.ok()) return topology.status();
  return topology->spec();
}

// Files that cannot be opened are bad input here: the configuration names them.
Status as_input(const Status& status) {
  return status.code() == StatusCode::kIo ? Status::bad_input(status.message()) : status;
}

Result<GraphSpec> read_any_graph(const std::string& path) {
  ImportOptions options;
  options.limits.max_nodes = kMostOwnNodes;
  options.limits.max_edges = kMostOwnEdges;
  if (!is_onnx_file(path)) return read_graph_spec(path, options.limits);
  Result<ImportedGraph> imported = import_onnx(path, options);
  // It leaves something open.
  if (have_onnx() && imported.status().code() == StatusCode::kInvalidArgument) {
    return Status::invalid(imported.status().message() +
                           "; 'placeto import' takes such settings and makes a graph of the model");
  }
  if (!imported.ok()) return imported.status();
  return std::move(imported->spec);
}

// Which contents were met, and where first. The name that a graph or topology has inside does not
// count: importers take it from the file.
class Contents {
 public:
  // Whether they were met before, which `copies` then says.
  bool has(GraphSpec& graph, const std::string& path, std::vector<std::string>& copies) {
    return has(graph, path, copies, [](const GraphSpec& g) { return encode_graph(g); });
  }
  bool has(TopologySpec& topology, const std::string& path, std::vector<std::string>& copies) {
    return has(topology, path, copies, [](const TopologySpec& t) { return encode_topology(t); });
  }

 private:
  template <class Spec>
  bool has(Spec& spec, const std::string& path, std::vector<std::string>& copies, auto encode) {
    std::string name = std::exchange(spec.name, "");
    const Result<std::vector<uint8_t>> bytes = encode(spec);
    spec.name = std::move(name);
    if (!bytes.ok()) return false;  // what is wrong with it is said where it is used
    const auto [first, is_new] = paths_.try_emplace(sha256(*bytes), path);
    if (!is_new) copies.push_back(path + " equals " + first->second + ": counted once");
    return !is_new;
  }

  std::map<Sha256Digest, std::string> paths_;
};

bool asked_to(const std::atomic<bool>* stop) {
  return stop != nullptr && *stop;
}

// The graph fits the topologies, whose paths are given for messages.
Status check_fit(const GraphSpec& graph, const std::vector<TopologySpec>& topologies,
                 const std::vector<std::string>& paths, const std::atomic<bool>* stop) {
  for (size_t t = 0; t < topologies.size(); ++t) {
    if (asked_to(stop)) return Status(StatusCode::kStopped, "stopped while graphs were read");
    const Result<Instance> made = make_instance("", graph, topologies[t]);
    if (!made.ok()) return Status::bad_input("on " + paths[t] + ": " + made.status().message());
    if (!made->problem->may_overflow()) continue;
    const Packing packing = pack(*made->problem, nullptr);
    if (packing.verdict == Packing::Verdict::kImpossible) {
      return Status::bad_input("on " + paths[t] + ": no placement fits in memory");
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> own_files(const std::vector<std::string>& patterns,
                                           bool are_topologies) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    if (are_topologies && shipped::is_topology(pattern)) {
      paths.push_back(pattern);
      continue;
    }
    std::error_code error;
    const auto kind = std::filesystem::status(pattern, error).type();
    if (std::filesystem::exists(std::filesystem::file_status(kind))) {
      if (kind != std::filesystem::file_type::regular) {
        return Status::bad_input(pattern + ": expected a regular file");
      }
      paths.push_back(pattern);
      continue;
    }
    const size_t before = paths.size();
    glob_t found{};
    const int status = glob(pattern.c_str(), GLOB_TILDE, nullptr, &found);
    for (size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
      if (std::filesystem::is_regular_file(found.gl_pathv[i], error)) {
        paths.emplace_back(found.gl_pathv[i]);
      }
    }
    globfree(&found);
    if (paths.size() > before) continue;
    std::string close;
    if (are_topologies) {
      close = cli::suggestion(std::filesystem::path(pattern).filename().string(),
                              shipped::topology_names());
    }
    std::string where;
    if (std::filesystem::path(pattern).is_relative()) {
      where = " in " + std::filesystem::current_path(error).string();
    }
    return Status::bad_input(pattern + ": no such file, nor a pattern of any" + where + close);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Instance OwnProblems::problem(uint32_t i) const {
  const File& file = graphs[i / topologies.size()];
  const TopologySpec& topology = topologies[i % topologies.size()];
  Result<Instance> made =
      make_instance(std::filesystem::path(file.path).stem().string(), file.graph, topology);
  return std::move(*made);  // read_own_problems has tried
}

Result<OwnProblems> read_own_problems(const std::vector<std::string>& graphs,
                                      const std::vector<std::string>& topologies,
                                      const std::atomic<bool>* stop) {
  const auto graph_paths = own_files(graphs, false), topology_paths = own_files(topologies, true);
  if (!graph_paths.ok()) return graph_paths.status();
  if (!topology_paths.ok()) return topology_paths.status();
  OwnProblems own;
  Contents met;
  std::vector<std::string> kept_topologies;
  for (const std::string& path : *topology_paths) {
    Result<TopologySpec> spec = topology_of(path);
    if (!spec.ok()) return as_input(spec.status());
    if (met.has(*spec, path, own.copies)) continue;
    if (spec->devices.size() < 2) {
      return Status::bad_input(path +
                               ": one device, expected two or more: nothing is to be decided");
    }
    own.topologies.push_back(std::move(*spec));
    kept_topologies.push_back(path);
  }
  uint64_t nodes = 0;
  for (const std::string& path : *graph_paths) {
    if (asked_to(stop)) return Status(StatusCode::kStopped, "stopped while graphs were read");
    Result<GraphSpec> spec = read_any_graph(path);
    if (!spec.ok()) return as_input(spec.status());
    if (met.has(*spec, path, own.copies)) continue;
    nodes += spec->nodes.size();
    if (nodes > kMostOwnNodesTogether) {
      return Status::bad_input(path + ": the graphs up to this one have " + std::to_string(nodes) +
                               " nodes, expected at most " + std::to_string(kMostOwnNodesTogether));
    }
    if (Status s = check_fit(*spec, own.topologies, kept_topologies, stop); !s.ok()) {
      return s.code() == StatusCode::kStopped ? s : Status::bad_input(path + " " + s.message());
    }
    own.graphs.push_back({path, std::move(*spec)});
  }
  return own;
}

OwnSplit split_by_graph(const OwnProblems& all, double share, uint64_t seed) {
  const auto count = static_cast<uint32_t>(all.graphs.size());
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed);
  for (uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  uint32_t held_out = 0;
  if (count > 1 && share > 0) {
    const auto wanted = static_cast<uint32_t>(std::lround(share * count));
    held_out = std::clamp(wanted, 1u, count - 1);
  }
  std::sort(order.begin(), order.begin() + held_out);
  std::sort(order.begin() + held_out, order.end());
  OwnSplit split{{{}, all.topologies, all.copies}, {{}, all.topologies, all.copies}};
  for (uint32_t i = 0; i < count; ++i) {
    (i < held_out ? split.held_out : split.train).graphs.push_back(all.graphs[order[i]]);
  }
  return split;
}

}  // namespace placeto::train
