#include "tools/workloads/workload.h"

#include <limits>
#include <set>

#include "tests/support/text.h"
#include "tests/unit/workloads_support.h"

namespace placeto {
namespace {

using test::contains;

bool same_graph(const GraphSpec& a, const GraphSpec& b) {
  if (a.name != b.name || a.edges != b.edges || a.nodes.size() != b.nodes.size()) return false;
  for (size_t v = 0; v < a.nodes.size(); ++v) {
    const NodeSpec &x = a.nodes[v], &y = b.nodes[v];
    if (x.name != y.name || x.op != y.op || x.cost_us != y.cost_us || x.outputs != y.outputs ||
        x.resident_bytes != y.resident_bytes || x.flops != y.flops ||
        x.bytes_accessed != y.bytes_accessed || x.colocate != y.colocate) {
      return false;
    }
  }
  return true;
}

// Every workload in every size, for inference and, where it applies, for training.
void for_each_variant(const std::function<void(const WorkloadInfo&, const WorkloadOptions&)>& f) {
  for (const WorkloadInfo& info : workloads()) {
    for (size_t size = 0; size < std::max<size_t>(1, info.sizes.size()); ++size) {
      for (int training = 0; training <= (info.training ? 1 : 0); ++training) {
        WorkloadOptions options;
        if (!info.sizes.empty()) options.size = info.sizes[size];
        options.training = training != 0;
        f(info, options);
      }
    }
  }
}

std::string error_of(std::string_view name, const WorkloadOptions& options) {
  const Result<GraphSpec> graph = generate(name, options);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.status().code() == StatusCode::kInvalidArgument);
  return graph.status().message();
}

TEST_CASE("every workload with default options builds a graph of a size worth placing") {
  for_each_variant([](const WorkloadInfo& info, const WorkloadOptions& options) {
    CAPTURE(std::string(info.name));
    CAPTURE(options.training);
    const Result<Graph> graph = Graph::build(generated(info.name, options));
    INFO(graph.status().message());
    REQUIRE(graph.ok());
    CHECK(graph->node_count() >= 150);
    CHECK(graph->node_count() <= 10'000);
    CHECK(graph->edge_count() >= graph->node_count() * 9 / 10);
  });
}

TEST_CASE("node names are distinct") {
  for_each_variant([](const WorkloadInfo& info, const WorkloadOptions& options) {
    CAPTURE(std::string(info.name));
    std::set<std::string> names;
    for (const NodeSpec& node : generated(info.name, options).nodes) {
      CAPTURE(node.name);
      CHECK(names.insert(node.name).second);
    }
  });
}

TEST_CASE("named networks leave run times to the estimate, random families state them") {
  for (const WorkloadInfo& info : workloads()) {
    for (const NodeSpec& node : generated(info.name).nodes) {
      CHECK(node.cost_us.size() == (info.ccr ? 1 : 0));
      CHECK((info.ccr || node.bytes_accessed > 0));
    }
  }
}

TEST_CASE("the same options give the same graph, another seed another one") {
  for (const WorkloadInfo& info : workloads()) {
    CAPTURE(std::string(info.name));
    WorkloadOptions options;
    if (info.seed) options.seed = 7;
    const GraphSpec first = generated(info.name, options);
    CHECK(same_graph(first, generated(info.name, options)));
    if (!info.seed) continue;
    options.seed = 8;
    CHECK_FALSE(same_graph(first, generated(info.name, options)));
  }
}

TEST_CASE("a graph of a known seed does not change between machines and versions") {
  // FNV-1a over what a placement sees. Changes only when a generator is changed on purpose.
  const auto hash = [](const GraphSpec& graph) {
    uint64_t h = 0xcbf29ce484222325u;
    const auto mix = [&h](uint64_t x) {
      for (int i = 0; i < 8; ++i, x >>= 8) h = (h ^ (x & 0xff)) * 0x100000001b3u;
    };
    for (const NodeSpec& node : graph.nodes) {
      for (double cost : node.cost_us) mix(static_cast<uint64_t>(cost * 1048576));
      for (uint64_t bytes : node.outputs) mix(bytes);
      mix(node.flops);
    }
    for (const EdgeSpec& edge : graph.edges) mix(uint64_t{edge.source} << 32 | edge.target);
    return h;
  };
  WorkloadOptions options;
  options.seed = 1;
  CHECK(hash(generated("layered", options)) == 0x19650e6d9127e614u);
  CHECK(hash(generated("series_parallel", options)) == 0x3c747d2cbabccb7bu);
  CHECK(hash(generated("fork_join", options)) == 0xfbe0cf714e817c74u);
  CHECK(hash(generated("erdos", options)) == 0x42c5eafe3954eae0u);
  CHECK(hash(generated("enas_cifar10", options)) == 0x7c7a9e251a60f796u);
  CHECK(hash(generated("enas_ptb", options)) == 0xda2619ecf72cf594u);
}

TEST_CASE("an unknown workload is refused with the list of the known ones") {
  const std::string message = error_of("inception_v9", {});
  CHECK(contains(message, "'inception_v9'"));
  for (const WorkloadInfo& info : workloads()) CHECK(contains(message, info.name));
}

TEST_CASE("an option that does not apply is refused with those that do") {
  WorkloadOptions options;
  options.layers = 3;
  CHECK(contains(error_of("resnet50", options), "layers does not apply, expected only batch"));
  options = {};
  options.training = true;
  CHECK(contains(error_of("layered", options), "training does not apply"));
  options = {};
  options.seed = 1;
  CHECK(contains(error_of("bert_base", options), "seed does not apply"));
  options = {};
  options.ccr = 0.5;
  CHECK(contains(error_of("nmt", options), "ccr does not apply"));
  options = {};
  options.size = "small";
  CHECK(contains(error_of("nmt", options), "size does not apply"));
  options = {};
  options.optimizer = Optimizer::kSgd;
  CHECK(contains(error_of("nmt", options), "without training"));
}

TEST_CASE("an option out of range is refused with its range") {
  WorkloadOptions options;
  options.batch = 1'000'000;
  CHECK(contains(error_of("resnet50", options), "batch is 1000000, expected 1 to 65536"));
  options = {};
  options.size = "huge";
  CHECK(contains(error_of("gpt2", options), "'huge', expected one of small, medium, large, xl"));
  options = {};
  options.hidden = 100;
  CHECK(contains(error_of("mixture_of_experts", options), "expected a multiple of the head size"));
  for (double ccr : {-1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.ccr = ccr;
    CHECK(contains(error_of("erdos", options), "ccr is"));
  }
}

TEST_CASE("every option at its smallest and at its largest builds or is refused") {
  for (const WorkloadInfo& info : workloads()) {
    for (const OptionInfo& option : info.options) {
      if (option.max >= 1'000'000 && option.name == "nodes") continue;  // see the next case
      for (uint32_t value : {option.min, option.max}) {
        CAPTURE(std::string(info.name));
        CAPTURE(std::string(option.name));
        CAPTURE(value);
        WorkloadOptions options;
        options.*option.value = value;
        Result<GraphSpec> graph = generate(info.name, options);
        if (graph.ok()) {
          CHECK(Graph::build(std::move(graph).value()).ok());
        } else {
          CHECK(graph.status().code() == StatusCode::kInvalidArgument);
        }
      }
    }
  }
}

TEST_CASE("a graph beyond the limits is refused before it is built") {
  WorkloadOptions options;
  options.layers = 64;
  options.length = 2'048;
  CHECK(contains(error_of("nmt", options), "layers x length are 131072, expected at most 16384"));
  CHECK(contains(error_of("enas_ptb", options), "layers x length"));
  options = {};
  options.layers = 128;
  options.experts = 4'096;
  CHECK(contains(error_of("mixture_of_experts", options), "layers x experts"));
  options = {};
  options.nodes = 4'000'000'000;
  CHECK(contains(error_of("layered", options), "nodes is 4000000000, expected 1 to 2000000"));
}

TEST_CASE("a graph with tensors too large to count is refused") {
  WorkloadOptions options;
  options.batch = 65'536;
  options.length = 65'536;
  options.hidden = 65'536;
  CHECK(contains(error_of("mixture_of_experts", options), "2^62"));
}

}  // namespace
}  // namespace placeto
