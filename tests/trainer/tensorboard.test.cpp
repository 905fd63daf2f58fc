#include "trainer/train/tensorboard.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/trainer/support.h"
#include "trainer/base/files.h"
#include "trainer/train/run_folder.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("CRC-32C agrees with RFC 3720") {
  CHECK(crc32c("123456789") == 0xe3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
}

TEST_CASE("an event record has the published bytes") {
  // Event { step: 5, summary { value { tag: "a", simple_value: 1.0 } } } at time 0.
  const std::string record = event_record(0, 5, {{"a", 1.0}});
  const std::string payload(
      "\x09\0\0\0\0\0\0\0\0\x10\x05\x2a\x0a\x0a\x08\x0a\x01"
      "a\x15\0\0\x80\x3f",
      23);
  REQUIRE(record.size() == 12 + payload.size() + 4);
  CHECK(record.substr(0, 8) == std::string("\x17\0\0\0\0\0\0\0", 8));
  CHECK(record.substr(12, payload.size()) == payload);
}

TEST_CASE("what is written is read back, values that are not finite left out") {
  const double infinity = std::numeric_limits<double>::infinity();
  std::string file = event_file_header(1.5);
  file += event_record(2.5, 7, {{"loss", 0.25}, {"best", infinity}, {"rate", -3}});
  file += event_record(3.5, 300, {{"loss", 0.125}});
  std::string_view rest = file;
  CHECK(take_event(rest)->file_version == "brain.Event:2");
  const auto first = take_event(rest), second = take_event(rest);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->wall_time == 2.5);
  CHECK(first->step == 7);
  REQUIRE(first->scalars.size() == 2);
  CHECK(first->scalars[1] == std::pair<std::string, float>{"rate", -3.0f});
  CHECK(second->step == 300);
  CHECK(rest.empty());
}

TEST_CASE("a flipped bit anywhere in a record is noticed") {
  const std::string good = event_record(1, 2, {{"loss", 0.5}});
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    std::string_view bytes = bad;
    CHECK_FALSE(take_event(bytes));
  }
}

TEST_CASE("a run that continues writes its events over those it lost, and over a cut end") {
  test::TemporaryFolder folder;
  RunFolder run(folder.file("run"));
  REQUIRE(run.create("").ok());
  for (int i = 1; i <= 4; ++i) {
    REQUIRE(run.metrics().append({{"iteration", i}, {"loss", 1.0 / i}}).ok());
  }
  REQUIRE(append(run.file("events.out.tfevents"), "cut").ok());
  REQUIRE(run.metrics().truncate(2).ok());
  REQUIRE(run.metrics().append({{"iteration", 3}, {"loss", 0.75}}).ok());
  const Result<std::string> file = read_text(run.file("events.out.tfevents"));
  REQUIRE(file.ok());
  std::string_view rest = *file;
  std::vector<std::pair<int64_t, float>> losses;
  while (const auto event = take_event(rest)) {
    if (!event->scalars.empty()) losses.push_back({event->step, event->scalars[1].second});
  }
  CHECK(rest.empty());
  CHECK(losses == std::vector<std::pair<int64_t, float>>{{1, 1.0f}, {2, 0.5f}, {3, 0.75f}});
}
