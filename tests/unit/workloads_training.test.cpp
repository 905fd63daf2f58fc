#include <map>
#include <set>

#include "tests/unit/workloads_support.h"
#include "tools/workloads/layers.h"
#include "tools/workloads/workload.h"

namespace placeto {
namespace {

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}
bool is_update(const NodeSpec& node) {
  return starts_with(node.name, "update/");
}
bool is_backward(const NodeSpec& node) {
  return starts_with(node.name, "grad/");
}

WorkloadOptions training_with(Optimizer optimizer) {
  WorkloadOptions options;
  options.training = true;
  options.optimizer = optimizer;
  return options;
}

std::map<std::string, int> count_operators(const GraphSpec& graph) {
  std::map<std::string, int> count;
  for (const NodeSpec& node : graph.nodes) ++count[node.op];
  return count;
}

const NodeSpec& node_named(const GraphSpec& graph, std::string_view name) {
  for (const NodeSpec& node : graph.nodes) {
    if (node.name == name) return node;
  }
  FAIL("no node ", std::string(name));
  return graph.nodes[0];
}

template <class F>
void for_each_network(F f) {
  for (const WorkloadInfo& info : workloads()) {
    if (!info.training) continue;
    CAPTURE(std::string(info.name));
    f(info);
  }
}

TEST_CASE("every variable's update shares a device with its forward operator and its gradient") {
  for_each_network([](const WorkloadInfo& info) {
    const GraphSpec graph = generated(info.name, training_with(Optimizer::kAdam));
    std::set<std::string> holders;  // keys of forward operators that hold parameters
    for (const NodeSpec& node : graph.nodes) {
      if (node.resident_bytes == 0) continue;
      CHECK_FALSE(is_update(node));
      CHECK_FALSE(is_backward(node));
      CHECK_FALSE(node.colocate.empty());
      holders.insert(node.colocate);
    }
    size_t updates = 0;
    for (const EdgeSpec& edge : graph.edges) {
      const NodeSpec& target = graph.nodes[edge.target];
      if (!is_update(target)) continue;
      ++updates;
      CAPTURE(target.name);
      CHECK(holders.count(target.colocate) == 1);
      CHECK(graph.nodes[edge.source].colocate == target.colocate);
    }
    CHECK(updates > 0);
  });
}

TEST_CASE("every node but the updates is read by another") {
  for_each_network([](const WorkloadInfo& info) {
    const GraphSpec graph = generated(info.name, training_with(Optimizer::kAdam));
    std::vector<int> readers(graph.nodes.size(), 0);
    for (const EdgeSpec& edge : graph.edges) ++readers[edge.source];
    for (size_t v = 0; v < graph.nodes.size(); ++v) {
      CAPTURE(graph.nodes[v].name);
      CHECK((readers[v] == 0) == is_update(graph.nodes[v]));
    }
  });
}

TEST_CASE("resident bytes count the optimizer's state of trainable parameters only") {
  for_each_network([](const WorkloadInfo& info) {
    const double sgd = resident_floats(generated(info.name, training_with(Optimizer::kSgd)));
    const double momentum =
        resident_floats(generated(info.name, training_with(Optimizer::kMomentum)));
    const double adam = resident_floats(generated(info.name, training_with(Optimizer::kAdam)));
    CHECK(momentum - sgd == adam - momentum);  // one value for each trainable parameter
    CHECK(momentum - sgd > 0.98 * sgd);        // all but the moving averages
    CHECK(momentum - sgd <= sgd);
  });
}

TEST_CASE("the gradients of products cost twice the products, less those of the fed inputs") {
  for_each_network([](const WorkloadInfo& info) {
    const GraphSpec graph = generated(info.name, training_with(Optimizer::kAdam));
    const double forward = flops_where(graph, is_product);
    const double backward = flops_where(graph, [](const std::string& op) {
      const size_t grad = op.find("Grad");
      return grad != std::string::npos && is_product(op.substr(0, grad));
    });
    CHECK(backward <= 2 * forward);
    CHECK(backward >= 1.95 * forward);
  });
}

TEST_CASE("the forward half of a training step is the inference graph with losses") {
  const GraphSpec inference = generated("inception_v3");
  const GraphSpec training = generated("inception_v3", training_with(Optimizer::kAdam));
  for (size_t v = 0; v + 1 < inference.nodes.size(); ++v) {  // the last one is the softmax
    CHECK(training.nodes[v].name == inference.nodes[v].name);
    CHECK(training.nodes[v].outputs == inference.nodes[v].outputs);
  }
}

TEST_CASE("activations are read by the backward half, the fed images by the first layer's only") {
  const GraphSpec graph = generated("resnet50", training_with(Optimizer::kAdam));
  std::set<std::string> readers_of_images;
  bool relu_read_backward = false;
  for (const EdgeSpec& edge : graph.edges) {
    const NodeSpec &source = graph.nodes[edge.source], &target = graph.nodes[edge.target];
    if (source.name == "images") readers_of_images.insert(target.op);
    relu_read_backward |= source.op == "Relu" && is_backward(target);
  }
  CHECK(relu_read_backward);
  CHECK(readers_of_images == std::set<std::string>{"Conv2D", "Conv2DGradWeight"});
}

TEST_CASE("in inference only operators that share a variable are colocated") {
  for (const char* name : {"inception_v3", "resnet50", "nasnet_a_large", "bert_base"}) {
    for (const NodeSpec& node : generated(name).nodes) CHECK(node.colocate.empty());
  }
  std::map<std::string, std::set<std::string>> members;
  for (const NodeSpec& node : generated("gpt2").nodes) {
    if (!node.colocate.empty()) members[node.colocate].insert(node.name);
  }
  REQUIRE(members.size() == 1);  // the embedding is the output matrix
  CHECK(members.begin()->second == std::set<std::string>{"embeddings/word_rows", "logits"});
}

// images -- dense(w) -- tanh -+-- dense(u) ---- add -- loss
//                             +-- sigmoid ----/
TEST_CASE("a tensor with two consumers has its gradients added once") {
  NetworkBuilder b("fork", training_with(Optimizer::kSgd));
  const Tensor x = input(b, "x", {8, 16});
  const Tensor y = activation(b, "tanh", dense(b, "w", x, 32), Nonlinearity::kTanh);
  const Tensor sum =
      add(b, "add", {dense(b, "u", y, 32), activation(b, "sigmoid", y, Nonlinearity::kSigmoid)});
  softmax_cross_entropy(b, "loss", sum, input(b, "labels", {8}, kIndexBytes));
  const Result<GraphSpec> graph = b.finish();
  REQUIRE(graph.ok());
  REQUIRE(Graph::build(GraphSpec(*graph)).ok());
  std::map<std::string, int> count = count_operators(*graph);
  CHECK(count["Add"] == 2);              // the forward one and the sum of y's two gradients
  CHECK(count["MatMulGradInput"] == 1);  // of u; nothing needs the gradient of x
  CHECK(count["MatMulGradWeight"] == 2);
  CHECK(count["ApplyGradientDescent"] == 4);  // two weights, two biases
  CHECK(graph->nodes.size() == 8 + 8 + 4 - 1);
  const NodeSpec& gradient = node_named(*graph, "grad/u/0");
  CHECK(gradient.outputs == std::vector<uint64_t>{8 * 32 * 4});
  CHECK(gradient.flops == 2 * 8 * 32 * 32);
  CHECK(gradient.bytes_accessed == 4 * (8 * 32 + 32 * 32 + 8 * 32));
  CHECK(gradient.colocate == node_named(*graph, "u").colocate);
  CHECK(node_named(*graph, "w").colocate != node_named(*graph, "u").colocate);
}

// x -- dense(w) -- relu -- dense(w) -- loss
TEST_CASE("a variable with two users has its gradients summed and is updated once") {
  NetworkBuilder b("shared", training_with(Optimizer::kAdam));
  const DenseParameters w = dense_parameters(b, "w", 16, 16, /*bias=*/false);
  const Tensor hidden =
      activation(b, "relu", dense(b, "first", {input(b, "x", {4, 16})}, w), Nonlinearity::kRelu);
  softmax_cross_entropy(b, "loss", dense(b, "second", {hidden}, w),
                        input(b, "labels", {4}, kIndexBytes));
  const Result<GraphSpec> graph = b.finish();
  REQUIRE(graph.ok());
  std::map<std::string, int> count = count_operators(*graph);
  CHECK(count["ApplyAdam"] == 1);
  CHECK(count["Add"] == 1);
  CHECK(node_named(*graph, "first").resident_bytes == 3 * 16 * 16 * 4);
  CHECK(node_named(*graph, "second").resident_bytes == 0);
  CHECK(node_named(*graph, "second").colocate == node_named(*graph, "first").colocate);
  CHECK(node_named(*graph, "update/w/weight").colocate == "w/weight");
}

TEST_CASE("a residual connection passes its gradient through without a node") {
  NetworkBuilder b("residual", training_with(Optimizer::kSgd));
  const Tensor x = dense(b, "a", input(b, "x", {4, 16}), 16, /*bias=*/false);
  const Tensor y = add(b, "add", {x, dense(b, "b", x, 16, /*bias=*/false)});
  softmax_cross_entropy(b, "loss", y, input(b, "labels", {4}, kIndexBytes));
  const Result<GraphSpec> graph = b.finish();
  REQUIRE(graph.ok());
  uint32_t loss_gradient = 0;
  while (graph->nodes[loss_gradient].name != "grad/loss") ++loss_gradient;
  std::set<std::string> readers;
  for (const EdgeSpec& edge : graph->edges) {
    if (edge.source == loss_gradient) readers.insert(graph->nodes[edge.target].op);
  }
  CHECK(readers == std::set<std::string>{"MatMulGradInput", "MatMulGradWeight", "Add"});
}

}  // namespace
}  // namespace placeto
