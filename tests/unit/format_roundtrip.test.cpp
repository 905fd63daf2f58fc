// Binary files: what goes in comes out.
#include <doctest/doctest.h>
#include <graph_generated.h>

#include "runtime/format/file_kind.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"
#include "tests/unit/format_support.h"

namespace placeto {

using test::same;

TEST_CASE("random graphs survive the binary form, and their bytes are canonical") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const GraphSpec spec = test::random_graph(random);
    const auto bytes = encode_graph(spec);
    REQUIRE(bytes.ok());
    CHECK(detect(*bytes) == FileKind::kGraph);
    const auto back = decode_graph(*bytes);
    REQUIRE_MESSAGE(back.ok(), back.status().message());
    CHECK(same(spec, *back));
    CHECK(*encode_graph(*back) == *bytes);
  }
}

TEST_CASE("random topologies survive the binary form, and their bytes are canonical") {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const TopologySpec spec = test::random_topology(random);
    const auto bytes = encode_topology(spec);
    REQUIRE(bytes.ok());
    CHECK(detect(*bytes) == FileKind::kTopology);
    const auto back = decode_topology(*bytes);
    REQUIRE_MESSAGE(back.ok(), back.status().message());
    CHECK(same(spec, *back));
    CHECK(*encode_topology(*back) == *bytes);
  }
}

TEST_CASE("random placements survive the binary form, and their bytes are canonical") {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const PlacementSpec spec = test::random_placement(random);
    const auto bytes = encode_placement(spec);
    REQUIRE(bytes.ok());
    CHECK(detect(*bytes) == FileKind::kPlacement);
    const auto back = decode_placement(*bytes);
    REQUIRE_MESSAGE(back.ok(), back.status().message());
    CHECK(same(spec, *back));
    CHECK(*encode_placement(*back) == *bytes);
  }
}

TEST_CASE("decoding does not need aligned bytes") {
  Random random(4);
  const GraphSpec spec = test::random_graph(random);
  const auto bytes = encode_graph(spec);
  REQUIRE(bytes.ok());
  for (size_t shift = 1; shift < 8; ++shift) {
    std::vector<uint8_t> shifted(shift);
    shifted.insert(shifted.end(), bytes->begin(), bytes->end());
    const auto back = decode_graph(std::span(shifted).subspan(shift));
    REQUIRE(back.ok());
    CHECK(same(spec, *back));
  }
}

TEST_CASE("equal operator types and keys are stored once") {
  GraphSpec spec;
  spec.nodes.resize(1000);
  for (NodeSpec& node : spec.nodes) node.op = node.colocate = std::string(1000, 'x');
  CHECK(encode_graph(spec)->size() < 100'000);
  CHECK(same(*decode_graph(*encode_graph(spec)), spec));
}

TEST_CASE("operator set versions and input types survive, and are left out where there are none") {
  GraphSpec spec;
  spec.nodes.resize(2);
  spec.nodes[1].opset = 13;
  spec.nodes[1].input_types = {"float", "", "float"};
  const auto bytes = *encode_graph(spec);
  CHECK(same(*decode_graph(bytes), spec));
  const auto* nodes = schema::GetGraph(bytes.data())->nodes();
  CHECK(nodes->Get(0)->input_types() == nullptr);
  CHECK(nodes->Get(1)->input_types()->size() == 3);
}

TEST_CASE("kinds have names and identifiers, and short bytes have no kind") {
  CHECK(std::string(name_of(FileKind::kPolicy)) == "policy");
  CHECK(std::string(identifier_of(FileKind::kTopology)) == "PLTO");
  CHECK(std::string(name_of(FileKind::kUnknown)) == "unknown");
  const std::vector<uint8_t> bytes = {0, 0, 0, 0, 'P', 'L', 'P', 'O'};
  CHECK(detect(bytes) == FileKind::kPolicy);
  CHECK(detect(std::span(bytes).first(7)) == FileKind::kUnknown);
}

}  // namespace placeto
