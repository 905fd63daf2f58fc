// The JSON form of policies: nothing lost either way, and nothing damaged let through.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "runtime/format/file.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/pairwise/features.h"
#include "tests/support/small_policies.h"
#include "tests/unit/policy_fixture.h"
#include "tools/io/policy_json.h"
#include "tools/io/read.h"
#include "tools/io/write.h"

namespace placeto {
namespace {

using Bytes = std::vector<uint8_t>;

using fixture::encode;

std::string json_of(const Bytes& bytes) {
  auto text = to_json(PolicyFile{bytes});
  REQUIRE_MESSAGE(text.ok(), text.status().message());
  return *std::move(text);
}

void check_round_trip(const Bytes& bytes) {
  const auto back = policy_from_json(json_of(bytes));
  REQUIRE_MESSAGE(back.ok(), back.status().message());
  CHECK(*back == bytes);
}

// Replaces the first occurrence, which must exist.
std::string with(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), by);
}

// Without the top-level field, which has a line of its own and is not the last.
std::string without_field(std::string text, const std::string& field) {
  const size_t at = text.find("  \"" + field + "\":");
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at) + 1 - at);
}

// As hand-edited policies are: without what describes the binary form.
std::string unsealed(const Bytes& bytes) {
  std::string text = without_field(json_of(bytes), "file_bytes");
  const size_t at = text.find(",\n  \"sha256\":");
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at + 2) - at);
}

void check_refused(const std::string& text, const std::vector<std::string>& parts) {
  const auto policy = policy_from_json(text);
  REQUIRE(!policy.ok());
  CHECK(policy.status().code() == StatusCode::kBadInput);
  for (const std::string& part : parts) {
    CAPTURE(policy.status().message());
    CHECK_MESSAGE(policy.status().message().find(part) != std::string::npos, part);
  }
}

}  // namespace

TEST_CASE("policies of both architectures survive JSON byte for byte") {
  check_round_trip(encode(test::small_leaping_policy()));
  check_round_trip(encode(test::small_placeto_policy(4, test::Looks::kAtLoads)));
  check_round_trip(encode(test::published_placeto_policy(3, 2, true, 5)));
}

TEST_CASE("a policy file as it ships survives JSON byte for byte") {
  const std::string path = PLACETO_SOURCE_DIR "/models/default.plpo";
  const auto bytes = read_file(path, Limits{}.max_file_bytes);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  check_round_trip(*bytes);
}

TEST_CASE("every kind of finite float survives JSON") {
  PolicySpec spec = test::small_pairwise_policy();
  std::vector<float>& data = spec.tensors[0].data;
  const float values[] = {0.1f,
                          -0.0f,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::lowest(),
                          std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min(),
                          std::nextafter(1.0f, 2.0f),
                          16777217.0f,
                          1.0f / 3};
  REQUIRE(data.size() >= std::size(values));
  std::copy(std::begin(values), std::end(values), data.begin());
  check_round_trip(encode(spec));
}

TEST_CASE("read_any and encoded take policies in both forms") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const std::string json = folder + "/placeto-policy-json-test.json";
  const std::string binary = folder + "/placeto-policy-json-test.plpo";
  const Bytes bytes = encode(test::small_pairwise_policy());
  REQUIRE(write_output(json, *encoded(AnySpec(PolicyFile{bytes}), Encoding::kJson)).ok());
  const auto any = read_any(json);
  REQUIRE_MESSAGE(any.ok(), any.status().message());
  CHECK(kind_of(*any) == FileKind::kPolicy);
  REQUIRE(write_output(binary, *encoded(*any, Encoding::kBinary)).ok());
  CHECK(*read_file(binary, 1 << 20) == bytes);
  for (const std::string& path : {json, binary}) {
    const auto policy = read_policy(path);
    REQUIRE_MESSAGE(policy.ok(), policy.status().message());
    CHECK((*policy)->file_bytes() == bytes.size());
  }
  CHECK(read_graph(json).status().message().find("is a policy in JSON, expected a graph") !=
        std::string::npos);
  std::filesystem::remove(json);
  std::filesystem::remove(binary);
}

TEST_CASE("a policy edited by hand needs no file_bytes and sha256") {
  PolicySpec spec = test::small_pairwise_policy();
  const std::string text = unsealed(encode(spec));
  const auto same = policy_from_json(text);
  REQUIRE_MESSAGE(same.ok(), same.status().message());
  CHECK(*same == encode(spec));
  spec.provenance.date = "today";
  const auto edited =
      policy_from_json(with(text, "\"provenance\": {}", "\"provenance\": { \"date\": \"today\" }"));
  REQUIRE_MESSAGE(edited.ok(), edited.status().message());
  CHECK(*edited == encode(spec));
}

TEST_CASE("a policy whose numbers were changed is refused for its SHA-256") {
  const std::string text = json_of(encode(test::small_pairwise_policy()));
  check_refused(with(text, "\"data\": [", "\"data\": [9"), {"sha256 is ", "expected "});
  check_refused(with(text, "\"sha256\": [", "\"sha256\": [1, "), {"sha256 is 01"});
  check_refused(with(text, "\"file_bytes\": ", "\"file_bytes\": 1"), {"file_bytes is 1"});
}

TEST_CASE("errors in the text of a policy name line, column and field") {
  const std::string text = json_of(encode(test::small_pairwise_policy()));
  check_refused(with(text, "\"data\": [", "\"data\": [nan, "),
                {"line ", ", column ", "tensors[0].data[0]", "found 'nan', expected a number"});
  check_refused(with(text, "\"data\": [", "\"data\": [1e99, "),
                {"line ", "tensors[0].data[0]", "32-bit float"});
  check_refused(with(text, "\"architecture\"", "\"architektur\""),
                {"line 4", "unknown field 'architektur'", "architecture"});
  check_refused(with(text, "\"head_hidden\": [", "\"head_hidden\": [-1, "),
                {"dimensions.head_hidden[0]", "whole number"});
  check_refused(text.substr(0, text.size() / 2), {"line "});
}

TEST_CASE("a policy that no runtime could execute is refused from JSON as from a file") {
  const std::string text = unsealed(encode(test::small_pairwise_policy()));
  check_refused(with(text, "\"format_version\": 1", "\"format_version\": 2"),
                {"format_version is 2"});
  check_refused(with(text, "\"pairwise\"", "\"pairs\""), {"pairs"});
  check_refused(with(text, "\"data\": [", "\"data\": [1, "), {"data has ", "expected "});
  check_refused("{ \"format_version\": 1, \"tensors\": [] }", {"dimensions is absent"});
  PolicySpec spec = test::small_pairwise_policy();
  spec.pair_features[0].name = "phase_of_the_moon";
  check_refused(unsealed(encode(spec)), {"phase_of_the_moon"});
}

}  // namespace placeto
