// placeto_fuzz_seeds DIR: writes the valid seeds of the corpus. They are committed; this is for the
// day on which a format changes. Regression inputs are added by hand and not touched.
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/format/file.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"
#include "runtime/graph/text.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/fuzz/targets.h"
#include "tests/support/small_policies.h"
#include "tests/unit/format_support.h"
#include "tools/io/write.h"

namespace placeto::fuzz {
namespace {

constexpr int kOfEach = 6;

struct Writer {
  std::filesystem::path folder;
  int failures = 0;

  void write(const char* target, const std::string& name, std::span<const uint8_t> bytes) {
    std::filesystem::create_directories(folder / target);
    const Status s = write_file_atomically((folder / target / name).string(), bytes);
    if (s.ok()) return;
    ++failures;
    std::fprintf(stderr, "%s\n", s.message().c_str());
  }
  void write(const char* target, const std::string& name, const std::string& text) {
    write(target, name, as_bytes(text));
  }
};

void write_files(Writer& writer) {
  Random random(1);
  for (int i = 0; i < kOfEach; ++i) {
    const std::string name = "random-" + std::to_string(i);
    const GraphSpec graph = test::random_graph(random);
    const TopologySpec topology = test::random_topology(random);
    const PlacementSpec placement = test::random_placement(random);
    writer.write("graph", name, *encode_graph(graph));
    writer.write("topology", name, *encode_topology(topology));
    writer.write("placement", name, *encode_placement(placement));
    writer.write("graph_json", name, *to_json(graph));
    writer.write("topology_json", name, *to_json(topology));
    writer.write("placement_json", name, *to_json(placement));
  }
}

// A graph network and a head over some of the features.
PolicySpec pairwise_with_network() {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.dimensions.embedding = 2;
  spec.dimensions.rounds = 1;
  spec.dimensions.encoder_hidden = {3};
  spec.dimensions.head_hidden = {4};
  for (const auto name : known_features().node.first(3)) {
    spec.node_features.push_back({std::string(name), 0.5f, 2});
  }
  for (const auto name : known_features().pair.first(3)) {
    spec.pair_features.push_back({std::string(name), 0, 1});
  }
  spec.provenance.workloads = {"layered", "branching"};
  spec.provenance.config = "rounds = 1\n";
  test::draw_weights(spec, 1);
  return spec;
}

// Intact files whose meaning is wrong.
void write_meaningless_policies(Writer& writer) {
  const PolicySpec good = pairwise_with_network();
  PolicySpec unknown = good, infinite = good, shape = good, rounds = good;
  unknown.pair_features[0].name = "a feature of tomorrow";
  infinite.tensors[0].data[0] = std::numeric_limits<float>::infinity();
  shape.tensors[0].shape.push_back(1);
  rounds.dimensions.rounds = 1'000'000'000;
  const std::pair<const char*, PolicySpec> policies[] = {
      {"refused-unknown-feature", unknown},
      {"refused-infinite-weight", infinite},
      {"refused-shape", shape},
      {"refused-rounds", rounds},
  };
  for (const auto& [name, spec] : policies) writer.write("policy", name, *encode_policy(spec));
}

void write_policies(Writer& writer) {
  const std::pair<const char*, PolicySpec> policies[] = {
      {"pairwise", test::small_pairwise_policy()},
      {"pairwise-leaps", test::small_leaping_policy()},
      {"pairwise-network", pairwise_with_network()},
      {"placeto", test::small_placeto_policy(2, test::Looks::kAtLoads)},
      {"placeto-start", test::small_placeto_policy(2, test::Looks::kAtLoadsNearby)},
  };
  for (const auto& [name, spec] : policies) writer.write("policy", name, *encode_policy(spec));
}

// Random bytes that make a graph and a topology which can be placed.
void write_calls(Writer& writer, const Target& target, uint64_t seed, uint32_t least_bytes,
                 uint32_t more_bytes) {
  Random random(seed);
  for (int found = 0; found < 2 * kOfEach;) {
    std::vector<uint8_t> bytes(least_bytes + random.below(more_bytes));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    if (target.run(bytes.data(), bytes.size()) == 0) continue;
    writer.write(target.name, "random-" + std::to_string(found++), bytes);
  }
}

}  // namespace
}  // namespace placeto::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  placeto::fuzz::Writer writer{argv[1]};
  placeto::fuzz::write_files(writer);
  placeto::fuzz::write_policies(writer);
  placeto::fuzz::write_meaningless_policies(writer);
  placeto::fuzz::write_calls(writer, {"capi", placeto::fuzz::fuzz_capi}, 2, 200, 500);
  placeto::fuzz::write_calls(writer, {"place", placeto::fuzz::fuzz_place}, 4, 100, 400);
  placeto::fuzz::write_calls(writer, {"stop", placeto::fuzz::fuzz_stop}, 3, 16, 8);
  return writer.failures == 0 ? 0 : 4;
}
