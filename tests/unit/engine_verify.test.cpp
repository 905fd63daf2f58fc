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
                    const std::map<std::string, std::string>& names = {}) {
  const auto result = verify_run(kPlan, std::vector<Profile>{record(nodes)}, names);
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
  CHECK(verify({{"conv1", "TensorrtExecutionProvider"}}, {{"gpu:0", "CUDAExecutionProvider"}})
            .differences.size() == 1);
  for (const char* name : {"dml", "directml", "DirectML", "DmlExecutionProvider"}) {
    CHECK(verify({{"conv1", "DmlExecutionProvider"}}, {{"gpu:0", name}}).differences.empty());
  }
}

TEST_CASE("names that the engine changed lead to the node they come from") {
  const Verification result = verify({{"conv1_nchwc", "CPUExecutionProvider"},
                                      {"fused relu1", "CUDAExecutionProvider"},
                                      {"Memcpy_token_3", "CUDAExecutionProvider"}});
  CHECK(result.as_planned == 1);
  CHECK(result.unknown == 1);  // for its operator is none that copies
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

TEST_CASE("a node that the engine named after its output leads to the one that makes it") {
  const std::vector<PlannedNode> plan{{"conv", "cpu:0", "Conv", "first", {"c"}},
                                      {"relu", "cpu:0", "Relu", "first", {"stem/out"}}};
  const Profile fused = record({{"stem/out_nchwc", "CPUExecutionProvider"}});
  const auto result = verify_run(plan, std::vector<Profile>{fused}, {}, true);
  REQUIRE(result.ok());
  CHECK(result->as_planned == 1);
  CHECK(result->not_run.empty());
  CHECK(result->not_seen == 1);
}

// What TensorRT's and its like leave of a stage: one node, of which only the provider is known.
const std::vector<PlannedNode> kStages{{"resize", "cpu:0", "", "first"},
                                       {"conv1", "gpu:0", "", "second"},
                                       {"main_graph", "gpu:0", "", "second"},
                                       {"softmax", "cpu:0", "", "third"}};
const char* const kTensorrt = "TensorrtExecutionProvider";
const std::string kCompiled = "TensorrtExecutionProvider_TRTKernel_graph_main_graph_177_0_0";

TEST_CASE("what a provider compiled as one is of a stage that was to run there") {
  const std::vector<Profile> records{record({{"resize", "CPUExecutionProvider"}}),
                                     record({{kCompiled, kTensorrt}}),
                                     record({{"softmax", "CPUExecutionProvider"}})};
  const auto result = verify_run(kStages, records, {{"gpu:0", "tensorrt"}}, true);
  REQUIRE(result.ok());
  CHECK(result->as_planned == 3);
  CHECK(result->compiled == 1);
  CHECK(result->not_seen == 2);
  CHECK(result->differences.empty());
  CHECK(result->not_run.empty());
  const auto missing = verify_run(kStages, std::span(records).first(1), {}, true);
  CHECK(missing->not_run == std::vector<std::string>{"second", "third"});
}

TEST_CASE("what a provider compiled although another was to run it is a difference") {
  const std::vector<Profile> records{
      record({{"resize", "CPUExecutionProvider"}, {kCompiled, kTensorrt}}),
      record({{"conv1", "CUDAExecutionProvider"}}),
      record({{kCompiled + "_1", kTensorrt}, {kCompiled + "_2", kTensorrt}})};
  const auto result = verify_run(kStages, records, {}, true);
  REQUIRE(result.ok());
  CHECK(result->as_planned == 2);
  REQUIRE(result->differences.size() == 3);
  CHECK(result->differences[0].device == "cpu:0");  // of the first stage, by the node beside it
  CHECK(result->differences[2].device == "cpu:0");  // of the last, that nothing else ran
  CHECK(result->not_run.empty());
}

TEST_CASE("in a session of the whole plan, what was compiled ran all that was to run there") {
  const std::vector<Profile> records{
      record({{"resize", "CPUExecutionProvider"}, {kCompiled, kTensorrt}})};
  const auto result = verify_run(kStages, records, {});
  REQUIRE(result.ok());
  CHECK(result->as_planned == 2);
  CHECK(result->not_run == std::vector<std::string>{"third"});
  const auto same = verify_run(kStages, records, {{"gpu:0", "cuda"}});
  CHECK(same->differences.empty());  // TensorRT runs on CUDA's devices
  const auto other = verify_run(kStages, records, {{"gpu:0", "dml"}});
  CHECK(other->differences.size() == 1);
}

TEST_CASE("a record without nodes is of a stage that was folded, once for each record") {
  const std::vector<Profile> records{record({{"conv1", "CUDAExecutionProvider"}}), Profile{}};
  const auto one = verify_run(kStages, records, {}, true);
  REQUIRE(one.ok());
  CHECK(one->not_run == std::vector<std::string>{"third"});
  const std::vector<Profile> more{records[0], Profile{}, Profile{}};
  CHECK(verify_run(kStages, more, {}, true)->not_run.empty());
  CHECK(verify_run(kStages, more, {})->not_run.size() == 2);  // one session has all nodes
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
