// A mock inference server: at start-up it places three models, each in a thread of its own, all of
// them sharing one topology and, if there is one, one policy.
//
//     inference_server                                    models and host made up here
//     inference_server TOPOLOGY POLICY|- GRAPH...         binary files; "-": no policy
//
// A model that cannot be placed is reported and not served; the others are. Exit status: the number
// of models that could not be placed.
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <placeto/placeto.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A stack of blocks in which a few branches run between a split and a join.
placeto::Expected<placeto::Graph> made_up_model(const char* name, int blocks, int branches) {
  placeto::GraphBuilder builder(name);
  const auto add = [&builder](const std::string& node_name, double us, uint64_t bytes) {
    placeto::Node node;
    node.name = node_name.c_str();
    node.cost_us = &us;
    node.cost_count = 1;
    node.outputs = &bytes;
    node.output_count = 1;
    node.resident_bytes = 30'000'000;
    return builder.add_node(node);
  };
  uint32_t last = add("input", 1, 600'000);
  for (int b = 0; b < blocks; ++b) {
    const std::string block = "block_" + std::to_string(b);
    const uint32_t join = add(block + "/join", 15, 1'500'000);
    for (int i = 0; i < branches; ++i) {
      const uint32_t branch = add(block + "/branch_" + std::to_string(i), 300 + 40 * i, 500'000);
      builder.add_edge(last, 0, branch);
      builder.add_edge(branch, 0, join);
    }
    last = join;
  }
  return builder.build();
}

placeto::Expected<placeto::Topology> made_up_host() {
  placeto::TopologyBuilder builder("two GPUs");
  placeto::TopologyRules rules;
  rules.bandwidth_bytes_per_us = 12'000;
  rules.gap_us = 10;
  builder.set_rules(rules);
  for (const char* name : {"gpu:0", "gpu:1"}) {
    placeto::Device device;
    device.name = name;
    device.kind = "gpu";
    device.memory_bytes = 8'000'000'000;
    builder.add_device(device);
  }
  return builder.build();
}

struct Model {
  std::string source;                                       // for messages
  std::function<placeto::Expected<placeto::Graph>()> load;  // in the model's own thread
  std::optional<placeto::Graph> graph;
  std::optional<placeto::Placement> placement;
  std::string failure;
  double ready_ms = 0;  // loading and placing
};

void prepare(Model& model, const placeto::Topology& topology, const placeto::Policy* policy) {
  const auto start = Clock::now();
  auto graph = model.load();
  if (!graph) {
    model.failure = graph.error().message;
    return;
  }
  placeto::Options options;
  options.budget_evaluations = 500;  // not milliseconds: every server of a fleet places alike
  auto placement = placeto::place(*graph, topology, policy, options);
  model.ready_ms = milliseconds_since(start);
  if (!placement) {
    model.failure = placement.error().message;
    return;
  }
  model.graph = std::move(*graph);
  model.placement = std::move(*placement);
}

int print(const std::vector<Model>& models) {
  int failures = 0;
  for (const Model& model : models) {
    if (!model.placement) {
      std::printf("%s: not served: %s\n", model.source.c_str(), model.failure.c_str());
      ++failures;
      continue;
    }
    const placeto::Placement& placement = *model.placement;
    std::printf("%s: %u nodes, %.1f us per run by %s, ready after %.2f ms (placing %.2f ms)\n",
                model.graph->name().c_str(), model.graph->node_count(), placement.makespan_us(),
                placement.method().c_str(), model.ready_ms, placement.place_time_us() / 1000);
    if (!placement.note().empty()) std::printf("  note: %s\n", placement.note().c_str());
  }
  return failures;
}

int serve(const placeto::Topology& topology, const placeto::Policy* policy,
          std::vector<Model>& models) {
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (Model& model : models) {
    threads.emplace_back([&model, &topology, policy] { prepare(model, topology, policy); });
  }
  for (std::thread& thread : threads) thread.join();
  const double total_ms = milliseconds_since(start);
  const int failures = print(models);
  std::printf("%zu models on %u devices, up after %.2f ms\n", models.size() - failures,
              topology.device_count(), total_ms);
  return failures;
}

Model model_of_file(const std::string& path) {
  Model model;
  model.source = path;
  model.load = [path] { return placeto::Graph::load_file(path); };
  return model;
}

Model model_made_up(const char* name, int blocks, int branches) {
  Model model;
  model.source = name;
  model.load = [=] { return made_up_model(name, blocks, branches); };
  return model;
}

int fail(const placeto::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 100;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<Model> models;
  if (arguments.empty()) {
    models.push_back(model_made_up("classifier", 12, 4));
    models.push_back(model_made_up("detector", 20, 3));
    models.push_back(model_made_up("encoder", 24, 2));
    const auto topology = made_up_host();
    return topology ? serve(*topology, nullptr, models) : fail(topology.error());
  }
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: inference_server [TOPOLOGY POLICY|- GRAPH...]\n");
    return 101;
  }
  for (size_t i = 2; i < arguments.size(); ++i) models.push_back(model_of_file(arguments[i]));
  const auto topology = placeto::Topology::load_file(arguments[0]);
  if (!topology) return fail(topology.error());
  if (arguments[1] == "-") return serve(*topology, nullptr, models);
  const auto policy = placeto::Policy::load_file(arguments[1]);
  if (!policy) return fail(policy.error());
  return serve(*topology, &*policy, models);
}
