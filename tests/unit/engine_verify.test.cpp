// Plans against records of runs.
#include <doctest/doctest.h>

#include "tools/engine/verify.h"

namespace placeto {
namespace {

const std::vector<PlannedNode> kPlan{
    {"conv1", "gpu:0"}, {"relu1", "gpu:0"}, {"resize", "gpu:0"}, {"softmax", "cpu:0"}};

Profile record(const std::vector<std::pair<std::string, std::string>>& nodes) {
  std::string text = "[";
  for (const auto& [name, provider] : nodes) {
    text += std::string(text.size() > 1 ? "," : "") + R"({"cat": "Node", "name": ")" + name +
            R"(_kernel_time", "ts": )" + std::to_string(10 * text.size()) +
            R"(, "dur": 5, "args": {"op_name": "Op", "provider": ")" + provider + "\"}}";
  }
  const auto profile = parse_profile(text + "]");
  REQUIRE(profile.ok());
  return *profile;
}

Verification verify(const std::vector<std::pair<std::string, std::string>>& nodes,
                    const std::vector<DeviceAlias>& aliases = {}) {
  const auto result = verify_run(kPlan, std::vector<Profile>{record(nodes)}, aliases);
  REQUIRE(result.ok());
  return *result;
}

TEST_CASE("nodes that ran where they were placed are no difference") {
  const Verification result = verify({{"conv1", "CUDAExecutionProvider"},
                                      {"relu1", "TensorrtExecutionProvider"},
                                      {"resize", "CUDAExecutionProvider"},
                                      {"softmax", "CPUExecutionProvider"}});
  CHECK(result.as_planned == 4);
  CHECK(result.differences.empty());
  CHECK(result.not_seen == 0);
}

TEST_CASE("a node that the engine took to another provider is named") {
  const Verification result =
      verify({{"conv1", "CUDAExecutionProvider"}, {"resize", "CPUExecutionProvider"}});
  CHECK(result.as_planned == 1);
  CHECK(result.not_seen == 2);
  REQUIRE(result.differences.size() == 1);
  CHECK(result.differences[0].node == "resize");
  CHECK(result.differences[0].device == "gpu:0");
  CHECK(result.differences[0].provider == "CPUExecutionProvider");
}

TEST_CASE("a device named as one provider is not served by another of its kind") {
  const Verification result = verify({{"conv1", "DmlExecutionProvider"}}, {{"gpu:0", "cuda"}});
  CHECK(result.differences.size() == 1);
  CHECK(verify({{"conv1", "DmlExecutionProvider"}}).differences.empty());
  for (const char* name : {"dml", "directml", "DirectML"}) {
    CHECK(verify({{"conv1", "DmlExecutionProvider"}}, {{"gpu", name}}).differences.empty());
  }
}

TEST_CASE("names that the engine changed lead to the node they come from") {
  const Verification result = verify({{"conv1_nchwc", "CPUExecutionProvider"},
                                      {"fused relu1", "CUDAExecutionProvider"},
                                      {"Memcpy_token_3", "CUDAExecutionProvider"}});
  CHECK(result.as_planned == 1);
  CHECK(result.by_engine == 1);
  REQUIRE(result.differences.size() == 1);
  CHECK(result.differences[0].node == "conv1_nchwc");
}

TEST_CASE("a stage of which no record has a node did not run, and its nodes are not folded") {
  const std::vector<PlannedNode> staged{{"conv1", "gpu:0", "", "first"},
                                        {"relu1", "gpu:0", "", "first"},
                                        {"resize", "gpu:0", "", "second"},
                                        {"softmax", "cpu:0", "", "third"}};
  const Profile first = record({{"conv1", "CUDAExecutionProvider"}});
  const auto part = verify_run(staged, std::vector<Profile>{first}, {});
  REQUIRE(part.ok());
  CHECK(part->not_run == std::vector<std::string>{"second", "third"});
  CHECK(part->not_seen == 1);
  const Profile rest =
      record({{"softmax", "CPUExecutionProvider"}, {"resize", "CUDAExecutionProvider"}});
  const auto all = verify_run(staged, std::vector<Profile>{first, rest}, {}, true);
  REQUIRE(all.ok());
  CHECK(all->not_run.empty());
  CHECK(all->not_seen == 1);
  const auto split = verify_run(staged, std::vector<Profile>{rest}, {}, true);
  CHECK(split->not_run == std::vector<std::string>{"first"});
  const auto whole = verify_run(staged, std::vector<Profile>{rest}, {});  // one session
  CHECK(whole->not_run.empty());
  CHECK(whole->not_seen == 2);
}

TEST_CASE("a record that is given twice counts once") {
  const Profile once =
      record({{"conv1", "CUDAExecutionProvider"}, {"resize", "CPUExecutionProvider"}});
  const auto result = verify_run(kPlan, std::vector<Profile>{once, once}, {});
  REQUIRE(result.ok());
  CHECK(result->as_planned == 1);
  CHECK(result->differences.size() == 1);
}

TEST_CASE("several records, as of the stages of a split model, are one run") {
  const std::vector<Profile> records{record({{"conv1", "CUDAExecutionProvider"}}),
                                     record({{"softmax", "CPUExecutionProvider"}})};
  const auto result = verify_run(kPlan, records, {});
  REQUIRE(result.ok());
  CHECK(result->as_planned == 2);
  CHECK(result->not_seen == 2);
}

}  // namespace
}  // namespace placeto
