#include "trainer/files.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/trainer/support.h"
#include "trainer/samples.h"

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

TEST_CASE("a full disk is an error that names the file, and the old file stays") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a");
  REQUIRE(write_whole(path, "old").ok());
  // The file is written beside its target first; a link there leads to a device without room.
  std::filesystem::create_symlink("/dev/full", path + ".part");
  const Status status = write_whole(path, "new");
  CHECK(status.code() == StatusCode::kIo);
  CHECK(status.message().find(path) != std::string::npos);
  CHECK(*read_text(path) == "old");
  CHECK(!std::filesystem::exists(path + ".part"));
}

TEST_CASE("a missing file is an error that names it") {
  const Result<std::string> text = read_text("/nowhere/at/all");
  REQUIRE(!text.ok());
  CHECK(text.status().code() == StatusCode::kIo);
  CHECK(text.status().message().find("/nowhere/at/all") == 0);
}

TEST_CASE("samples survive being written, and cut bytes are refused") {
  Samples samples;
  for (uint32_t rows : {2u, 0u, 3u}) {
    for (uint32_t r = 0; r < rows; ++r) {
      samples.rows.resize(samples.rows.size() + kPairFeatures, float(r));
      samples.gains.push_back(0.5f * float(r));
    }
    samples.close_group();
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
