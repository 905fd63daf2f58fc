#include "trainer/base/files.h"

#include <doctest/doctest.h>

#include "tests/trainer/support.h"
#include "trainer/pairwise/samples.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("a sealed file comes back as written, and any cut or changed byte is refused") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a");
  REQUIRE(write_sealed(path, "contents").ok());
  REQUIRE(read_sealed(path).ok());
  CHECK(*read_sealed(path) == "contents");
  const std::string whole = *read_text(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    REQUIRE(write_whole(path, whole.substr(0, i)).ok());
    CHECK(read_sealed(path).status().code() == StatusCode::kBadInput);
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    REQUIRE(write_whole(path, changed).ok());
    CHECK(read_sealed(path).status().code() == StatusCode::kBadInput);
  }
}

TEST_CASE("a missing file is an error that names it") {
  const Result<std::string> text = read_text("/nowhere/at/all");
  REQUIRE(!text.ok());
  CHECK(text.status().code() == StatusCode::kBadInput);
  CHECK(text.status().message().find("/nowhere/at/all") == 0);
}

TEST_CASE("samples survive being written, and cut bytes are refused") {
  Samples samples;
  for (uint32_t rows : {2u, 0u, 3u}) {
    for (uint32_t r = 0; r < rows; ++r) {
      samples.rows.resize(samples.rows.size() + kPairFeatures, float(r));
      samples.gains.push_back(0.5f * float(r));
    }
    samples.close_decision();
  }
  const std::string bytes = samples.to_bytes();
  Samples again;
  REQUIRE(again.from_bytes(bytes));
  CHECK(again.offset == samples.offset);
  CHECK(again.rows == samples.rows);
  CHECK(again.gains == samples.gains);
  for (size_t length = 0; length < bytes.size(); length += 7) {
    CHECK(!Samples().from_bytes(std::string_view(bytes).substr(0, length)));
  }
}

TEST_CASE("what a graph network sees survives being written, appended and taken apart") {
  Samples samples;
  for (const uint32_t state : {0u, 1u, 1u, 2u}) {  // one decision each
    if (samples.graphs.size() == state) {
      samples.graphs.push_back(std::make_shared<const GraphState>(
          GraphState{std::vector<float>(3 * kNodeFeatures, float(state)), {0, 1}, {1, 2}}));
    }
    samples.rows.resize(samples.rows.size() + kPairFeatures);
    samples.gains.push_back(float(state));
    samples.close_decision();
    samples.close_members(std::vector<uint32_t>(1 + state, state));
  }
  const std::string bytes = samples.to_bytes();
  Samples again;
  REQUIRE(again.from_bytes(bytes));
  CHECK(again.to_bytes() == bytes);
  CHECK(again.same_graph(2) == std::pair{1u, 3u});
  CHECK(again.nodes(3).size() == 3);
  for (size_t cut = 1; cut < 300; ++cut) {  // into the last two states
    CHECK(!Samples().from_bytes(std::string_view(bytes).substr(0, bytes.size() - cut)));
  }
  std::string foreign = bytes;
  foreign[foreign.size() - 4] = 3;  // an edge to a node that is not there
  CHECK(!Samples().from_bytes(foreign));

  Samples twice = samples;
  twice.append(again);
  CHECK(twice.same_graph(6) == std::pair{5u, 7u});
  CHECK(twice.nodes(7).size() == 3);
  Samples some;
  for (const uint32_t decision : {1u, 2u, 3u}) some.append_decision(twice, decision);
  CHECK(some.graphs.size() == 2);
  CHECK(some.graphs[0] == twice.graphs[1]);  // shared
  CHECK(some.nodes(2).size() == 3);
}
