#include "runtime/policy/published/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

using namespace placeto;

namespace {

using Row = std::vector<double>;

constexpr uint32_t kDevices = 3;

// A few edges back from every node, most of them short.
Graph local_graph(uint32_t nodes, Random& random) {
  GraphSpec spec;
  for (uint32_t v = 0; v < nodes; ++v) {
    NodeSpec node;
    node.name = "n" + std::to_string(v);
    node.cost_us = {1};
    spec.nodes.push_back(node);
    for (uint32_t e = random.below(4); e > 0 && v > 0; --e) {
      const uint32_t source = v - 1 - random.below(std::min(v, 6u));
      const EdgeSpec edge{source, kControlEdge, v};
      if (std::find(spec.edges.begin(), spec.edges.end(), edge) == spec.edges.end()) {
        spec.edges.push_back(edge);
      }
    }
  }
  return *Graph::build(spec);
}

std::vector<float> random_rows(size_t count, Random& random) {
  std::vector<float> rows(count);
  for (float& x : rows) x = static_cast<float>(random.uniform());
  return rows;
}

// The networks written out in float64, from the words of DESIGN and the paper.
class Exact {
 public:
  Exact(const Policy& policy, const Graph& graph) : policy_(policy), graph_(graph) {}

  std::vector<Row> embed(const std::vector<float>& inputs) const {
    const size_t width = policy_.find_network("encoder")->inputs();
    std::vector<Row> encoding;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      const auto first = inputs.begin() + static_cast<ptrdiff_t>(v * width);
      encoding.push_back(run("encoder", Row(first, first + static_cast<ptrdiff_t>(width))));
    }
    std::vector<Row> both(encoding.size());
    for (const std::string way : {"along", "against"}) {
      std::vector<Row> x = encoding;
      for (uint32_t round = 0; round < policy_.dimensions().rounds; ++round) {
        x = pass_messages(way, x, encoding);
      }
      for (size_t v = 0; v < x.size(); ++v) both[v].insert(both[v].end(), x[v].begin(), x[v].end());
    }
    return both;
  }

  Row logits(const std::vector<Row>& x, uint32_t node) const {
    Row in = x[node];
    for (const std::string set : {"ancestors", "descendants", "unrelated"}) {
      Row sum(x[0].size());
      for (uint32_t v = 0; v < x.size(); ++v) {
        if (v == node || set != relation(v, node)) continue;
        add(run(set + ".f", x[v]), sum);
      }
      const Row pooled = run(set + ".g", sum);
      in.insert(in.end(), pooled.begin(), pooled.end());
    }
    return run("head", in);
  }

 private:
  static void add(const Row& from, Row& to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }

  Row run(const std::string& name, Row x) const {
    for (const DenseLayer& layer : policy_.find_network(name)->layers()) {
      Row y(layer.bias, layer.bias + layer.outputs);
      for (uint32_t k = 0; k < layer.inputs; ++k) {
        for (uint32_t n = 0; n < layer.outputs; ++n) {
          y[n] += x[k] * static_cast<double>(layer.weights[size_t{k} * layer.outputs + n]);
        }
      }
      for (double& value : y) {
        if (layer.activation == Activation::kRelu) value = std::max(value, 0.0);
      }
      x = std::move(y);
    }
    return x;
  }

  std::vector<Row> pass_messages(const std::string& way, const std::vector<Row>& x,
                                 const std::vector<Row>& encoding) const {
    std::vector<Row> sums(x.size(), Row(x[0].size()));
    std::vector<bool> hears(x.size());
    for (uint32_t v = 0; v < x.size(); ++v) {
      for (const OutEdge& edge : graph_.out_edges(v)) {
        const uint32_t from = way == "along" ? v : edge.target;
        const uint32_t to = way == "along" ? edge.target : v;
        add(run(way + ".f", x[from]), sums[to]);
        hears[to] = true;
      }
    }
    std::vector<Row> next = encoding;
    for (uint32_t v = 0; v < x.size(); ++v) {
      if (hears[v]) add(run(way + ".g", sums[v]), next[v]);
    }
    return next;
  }

  bool reaches(uint32_t from, uint32_t to) const {
    if (from == to) return true;
    for (const OutEdge& edge : graph_.out_edges(from)) {
      if (edge.target <= to && reaches(edge.target, to)) return true;  // edges go to higher indices
    }
    return false;
  }

  std::string relation(uint32_t v, uint32_t node) const {
    if (reaches(v, node)) return "ancestors";
    return reaches(node, v) ? "descendants" : "unrelated";
  }

  const Policy& policy_;
  const Graph& graph_;
};

// To 1e-5 of the largest value.
void check_close(std::span<const float> values, const Row& expected) {
  double largest = 1e-9;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(std::abs(static_cast<double>(values[i]) - expected[i]) <= 1e-5 * largest);
  }
}

PolicySpec without_hidden_layers(uint64_t seed) {
  PolicySpec spec = test::published_placeto_policy(kDevices, 2, true, seed);
  spec.dimensions.message_hidden.clear();
  spec.dimensions.pool_hidden.clear();
  test::draw_weights(spec, seed);
  return spec;
}

void check_policy(const PolicySpec& spec, uint32_t nodes, KernelChoice kernels) {
  Random random(nodes);
  const Graph graph = local_graph(nodes, random);
  const auto policy = test::load_policy(spec);
  const auto inputs =
      random_rows(size_t{nodes} * policy->find_network("encoder")->inputs(), random);
  const Exact exact(*policy, graph);
  const std::vector<Row> x = exact.embed(inputs);
  PublishedNetwork network(*policy, graph, kernels);
  network.embed(inputs.data());
  for (uint32_t v = 0; v < nodes; ++v) {
    check_close({network.embeddings() + size_t{v} * network.stride(), x[v].size()}, x[v]);
    if (v % 7 == 0) check_close(network.logits(v), exact.logits(x, v));
  }
}

}  // namespace

TEST_CASE("a placeto network agrees with float64 on any number of rounds, layers and nodes") {
  for (const KernelChoice kernels : {KernelChoice::kPortable, KernelChoice::kOneDnn}) {
    for (const uint32_t rounds : {0u, 1u, 8u}) {
      check_policy(test::published_placeto_policy(kDevices, rounds, true, rounds + 1), 30, kernels);
    }
    check_policy(test::published_placeto_policy(kDevices, 3, false, 5), 1, kernels);
    check_policy(without_hidden_layers(7), 40, kernels);
  }
  // Above the size of a block.
  check_policy(test::published_placeto_policy(kDevices, 1, true, 6), 300, KernelChoice::kPortable);
}

GraphSpec separate_nodes(int count) {
  GraphSpec spec;
  for (int v = 0; v < count; ++v) {
    NodeSpec node;
    node.name = "n" + std::to_string(v);
    node.cost_us = {1};
    spec.nodes.push_back(node);
  }
  return spec;
}

//   0 --> 1 --> 2
TEST_CASE("what a node hears along the edges says nothing of what comes after it, and vice versa") {
  GraphSpec spec = separate_nodes(3);
  spec.edges = {{0, kControlEdge, 1}, {1, kControlEdge, 2}};
  const Graph graph = *Graph::build(spec);
  const auto policy = test::load_policy(test::published_placeto_policy(kDevices, 2, true, 5));
  const size_t width = policy->dimensions().embedding;
  Random random(5);
  const std::vector<float> first = random_rows(3 * width, random);
  PublishedNetwork network(*policy, graph, KernelChoice::kPortable);
  const auto embedded = [&](uint32_t node, size_t direction) {
    const float* const row = network.embeddings() + node * network.stride() + direction * width;
    return std::vector<float>(row, row + width);
  };
  network.embed(first.data());
  const auto along_0 = embedded(0, 0), along_2 = embedded(2, 0);
  const auto against_0 = embedded(0, 1), against_2 = embedded(2, 1);
  CHECK(along_0 != against_0);  // who hears nobody keeps the encoding, who hears somebody does not
  std::vector<float> inputs = first;
  for (size_t c = 0; c < width; ++c) inputs[2 * width + c] += 1;
  network.embed(inputs.data());
  CHECK(embedded(0, 0) == along_0);
  CHECK(embedded(0, 1) != against_0);
  CHECK(embedded(2, 0) != along_2);  // its own encoding
  inputs = first;
  for (size_t c = 0; c < width; ++c) inputs[c] += 1;
  network.embed(inputs.data());
  CHECK(embedded(2, 1) == against_2);
}

//   0 --> 1 --> 3     4 --> 5
//    \--> 2 ----^
TEST_CASE("the sets of a node are what it depends on, what depends on it, and the rest") {
  GraphSpec spec = separate_nodes(6);
  for (const auto& [from, to] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 3u}, {2u, 3u}, {4u, 5u}}) {
    spec.edges.push_back({from, kControlEdge, to});
  }
  const Graph graph = *Graph::build(spec);
  PublishedReach reach(graph);
  using List = std::vector<uint32_t>;
  const auto check = [&](uint32_t node, const List& up, const List& down, const List& rest) {
    reach.find(node);
    CHECK(std::ranges::equal(reach.ancestors(), up));
    CHECK(std::ranges::equal(reach.descendants(), down));
    CHECK(std::ranges::equal(reach.unrelated(), rest));
  };
  check(1, {0}, {3}, {2, 4, 5});
  check(3, {0, 1, 2}, {}, {4, 5});
  check(0, {}, {1, 2, 3}, {4, 5});
  check(5, {4}, {}, {0, 1, 2, 3});
}

TEST_CASE("the sets are those that walking the edges finds, on graphs of any size") {
  for (const uint32_t nodes : {1u, 63u, 64u, 65u, 130u}) {
    CAPTURE(nodes);
    Random random(nodes);
    GraphSpec spec;
    for (uint32_t v = 0; v < nodes; ++v) {
      NodeSpec node;
      node.name = "n" + std::to_string(v);
      node.cost_us = {1};
      spec.nodes.push_back(node);
      for (uint32_t w = 0; w < v; ++w) {  // against the order of the numbers
        if (random.below(nodes) == 0) spec.edges.push_back({v, kControlEdge, w});
      }
    }
    const Graph graph = *Graph::build(spec);
    PublishedReach reach(graph);
    std::vector<std::vector<uint8_t>> reaches(nodes, std::vector<uint8_t>(nodes, 0));
    for (uint32_t v = 0; v < nodes; ++v) {
      for (const OutEdge& out : graph.out_edges(v)) {
        reaches[v][out.target] = 1;
        for (uint32_t w = 0; w < nodes; ++w) reaches[v][w] |= reaches[out.target][w];
      }
    }
    for (uint32_t v = 0; v < nodes; ++v) {
      std::vector<uint32_t> up, down, rest;
      for (uint32_t w = 0; w < nodes; ++w) {
        if (w == v) continue;
        (reaches[w][v] ? up : reaches[v][w] ? down : rest).push_back(w);
      }
      reach.find(v);
      CHECK(std::ranges::equal(reach.ancestors(), up));
      CHECK(std::ranges::equal(reach.descendants(), down));
      CHECK(std::ranges::equal(reach.unrelated(), rest));
    }
  }
}
