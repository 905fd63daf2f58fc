#include "runtime/policy/net/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/base/sha256.h"

using namespace placeto;

namespace {

std::vector<float> random_floats(size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.uniform() - 0.5);
  return values;
}

// A stack of layers that owns its numbers, and the same stack in float64.
struct Network {
  Network(const std::vector<uint32_t>& widths, Random& random) {
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      numbers.push_back(random_floats(size_t{widths[i]} * widths[i + 1], random));
      numbers.push_back(random_floats(widths[i + 1], random));
    }
    std::vector<DenseLayer> layers;
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      const bool last = i + 2 == widths.size();
      layers.push_back({widths[i], widths[i + 1], numbers[2 * i].data(), numbers[2 * i + 1].data(),
                        last ? Activation::kNone : Activation::kRelu});
    }
    mlp = Mlp(layers);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  std::vector<double> exact(std::vector<double> x) const {
    for (const DenseLayer& layer : mlp.layers()) {
      std::vector<double> y(layer.bias, layer.bias + layer.outputs);
      for (uint32_t k = 0; k < layer.inputs; ++k) {
        for (uint32_t n = 0; n < layer.outputs; ++n) {
          y[n] += x[k] * layer.weights[size_t{k} * layer.outputs + n];
        }
      }
      for (double& v : y) v = layer.activation == Activation::kRelu ? std::max(v, 0.0) : v;
      x = std::move(y);
    }
    return x;
  }

  std::vector<std::vector<float>> numbers;
  Mlp mlp;
};

// Adjacency with owned arrays.
struct OwnedLists {
  explicit OwnedLists(const std::vector<std::vector<uint32_t>>& rows) {
    for (const auto& row : rows) {
      index.insert(index.end(), row.begin(), row.end());
      offset.push_back(static_cast<uint32_t>(index.size()));
    }
  }
  Lists view() const { return {offset, index}; }
  std::vector<uint32_t> offset{0}, index;
};

struct RandomGraph {
  RandomGraph(uint32_t nodes, Random& random) : predecessors(nodes), successors(nodes) {
    for (uint32_t v = 1; v < nodes; ++v) {
      for (uint32_t e = random.below(4); e > 0; --e) {
        const uint32_t u = random.below(v);
        predecessors[v].push_back(u);
        successors[u].push_back(v);
      }
    }
  }
  std::vector<std::vector<uint32_t>> predecessors, successors;
};

using Rows = std::vector<std::vector<double>>;

Rows to_rows(const std::vector<float>& x, size_t width) {
  Rows rows;
  for (size_t i = 0; i < x.size(); i += width) {
    rows.emplace_back(x.begin() + static_cast<ptrdiff_t>(i),
                      x.begin() + static_cast<ptrdiff_t>(i + width));
  }
  return rows;
}

Rows exact_messages(const Network& f, const Network& g,
                    const std::vector<std::vector<uint32_t>>& senders, const Rows& x) {
  Rows updated = x;
  for (size_t v = 0; v < x.size(); ++v) {
    std::vector<double> sum(x[v].size(), 0.0);
    for (const uint32_t u : senders[v]) {
      const std::vector<double> message = f.exact(x[u]);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += message[i];
    }
    const std::vector<double> update = g.exact(sum);
    for (size_t i = 0; i < sum.size(); ++i) updated[v][i] += update[i];
  }
  return updated;
}

// To 1e-5 of the largest value: single entries may cancel to almost nothing.
void check_close(const std::vector<float>& y, const Rows& expected) {
  double largest = 0;
  for (const auto& row : expected) {
    for (const double v : row) largest = std::max(largest, std::abs(v));
  }
  size_t i = 0;
  for (const auto& row : expected) {
    for (const double v : row) REQUIRE(std::abs(y[i++] - v) <= 1e-5 * largest);
  }
  REQUIRE(i == y.size());
}

// A graph network with its graph and features.
struct GraphCase {
  explicit GraphCase(uint32_t nodes)
      : random(nodes),
        graph(nodes, random),
        predecessors(graph.predecessors),
        successors(graph.successors),
        encoder({5, 12, 8}, random),
        along_f({8, 16, 8}, random),
        along_g({8, 8}, random),
        against_f({8, 20, 8}, random),
        against_g({8, 16, 16, 8}, random),
        features(random_floats(size_t{nodes} * 5, random)),
        network{encoder.mlp, {along_f.mlp, along_g.mlp}, {against_f.mlp, against_g.mlp}, 3} {}

  std::vector<float> run(Kernels& kernels, Workspace& workspace) const {
    std::vector<float> x(features.size() / 5 * 8);
    network.embed(features.data(), 5, predecessors.view(), successors.view(), x.data(), kernels,
                  workspace);
    return x;
  }

  Random random;
  RandomGraph graph;
  OwnedLists predecessors, successors;
  Network encoder, along_f, along_g, against_f, against_g;
  std::vector<float> features;
  GraphNetwork network;
};

}  // namespace

TEST_CASE("a stack of layers agrees with float64 on any number of rows") {
  Random random(1);
  const Network network({7, 16, 33, 3}, random);
  for (const KernelChoice choice : {KernelChoice::kPortable, KernelChoice::kAuto}) {
    Kernels kernels(choice);
    Workspace workspace;
    workspace.plan(0, 0, network.mlp.widest());
    for (const uint32_t rows : {1u, 2u, 255u, 256u, 257u, 600u}) {
      const std::vector<float> x = random_floats(rows * 7, random);
      std::vector<float> y(rows * 3);
      network.mlp.run(x.data(), 7, y.data(), 3, rows, kernels, workspace);
      Rows expected;
      for (const auto& row : to_rows(x, 7)) expected.push_back(network.exact(row));
      check_close(y, expected);
    }
  }
}

//   0 ---> 1 ---> 3
//    ===> 2 -----^     two edges from 0 to 2: 2 hears 0 twice; 0 hears nobody
TEST_CASE("messages are summed over the senders of a node and added to what it was") {
  Random random(2);
  const std::vector<std::vector<uint32_t>> senders = {{}, {0}, {0, 0}, {1, 2}};
  const Network f({2, 4, 2}, random), g({2, 3, 2}, random);
  const MessagePassing passing(f.mlp, g.mlp);
  std::vector<float> x = random_floats(4 * 2, random);
  const Rows expected = exact_messages(f, g, senders, to_rows(x, 2));
  Kernels kernels(KernelChoice::kPortable);
  Workspace workspace;
  workspace.plan(4, 2, passing.widest());
  passing.run(OwnedLists(senders).view(), x.data(), kernels, workspace);
  check_close(x, expected);
}

TEST_CASE("a graph network agrees with float64 below, at and above the size of a block") {
  for (const uint32_t nodes : {1u, 40u, 256u, 700u}) {
    const GraphCase c(nodes);
    Rows expected;
    for (const auto& row : to_rows(c.features, 5)) expected.push_back(c.encoder.exact(row));
    for (uint32_t round = 0; round < c.network.rounds; ++round) {
      expected = exact_messages(c.along_f, c.along_g, c.graph.predecessors, expected);
      expected = exact_messages(c.against_f, c.against_g, c.graph.successors, expected);
    }
    for (const KernelChoice choice : {KernelChoice::kPortable, KernelChoice::kOneDnn}) {
      Kernels kernels(choice);
      Workspace workspace;
      c.network.plan(nodes, workspace);
      check_close(c.run(kernels, workspace), expected);
    }
  }
}

TEST_CASE("scratch is planned once: later and smaller calls leave it as it is") {
  const GraphCase large(300), small(20);
  Kernels kernels(KernelChoice::kAuto);
  Workspace workspace;
  large.network.plan(300, workspace);
  const size_t planned = workspace.bytes();
  CHECK(planned > 300 * 8 * sizeof(float));
  const std::vector<float> first = large.run(kernels, workspace);
  const size_t primitives = kernels.cached_primitives();
  small.network.plan(20, workspace);
  small.run(kernels, workspace);
  CHECK(large.run(kernels, workspace) == first);
  CHECK(workspace.bytes() == planned);
  CHECK(kernels.cached_primitives() == primitives);
}

TEST_CASE("a graph network on portable kernels gives the same bits in every build") {
  const GraphCase c(300);
  Kernels kernels(KernelChoice::kPortable);
  Workspace workspace;
  c.network.plan(300, workspace);
  const std::vector<float> x = c.run(kernels, workspace);
  const auto* bytes = reinterpret_cast<const uint8_t*>(x.data());
  std::string text;
  for (const uint8_t byte : sha256({bytes, x.size() * sizeof(float)})) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  CHECK(text == "4db60185780e27cc2b36ca9478cda921aacaecf2d952426b6411084057fa6c87");
}
