// Manifests read back: what is refused, and what a host learns from one.
#include <doctest/doctest.h>

#include <string>

#include "tools/engine/manifest_dims.h"
#include "tools/engine/manifest_reader.h"

namespace placeto {
namespace {

// Three stages: cpu:0 makes a, cpu:1 makes b of it, cpu:0 makes y of both.
//
//   x - [0: a] - [1: b] - [2: y]
//          \______________/
std::string manifest_text() {
  return R"({"format_version": 1, "model": "m.onnx", "graph": "m", "topology": "two",
    "devices": ["cpu:0", "cpu:1"],
    "inputs": [{"name": "x", "type": "float32", "shape": [4]}],
    "outputs": [{"name": "y", "type": "float32", "shape": [4], "stage": 2}],
    "stages": [
      {"file": "stage_0.onnx", "device": "cpu:0", "nodes": 1, "after": [],
       "inputs": [{"name": "x"}], "outputs": [{"name": "a"}]},
      {"file": "stage_1.onnx", "device": "cpu:1", "nodes": 1, "after": [0],
       "inputs": [{"name": "a", "stage": 0}], "outputs": [{"name": "b"}]},
      {"file": "stage_2.onnx", "device": "cpu:0", "nodes": 1, "after": [0, 1],
       "inputs": [{"name": "a", "stage": 0}, {"name": "b", "stage": 1}],
       "outputs": [{"name": "y"}], "predicted_us": 12.5}],
    "order": [0, 1, 2]})";
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = manifest_text();
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  const auto manifest = parse_manifest(text);
  REQUIRE(!manifest.ok());
  CHECK(manifest.status().code() == StatusCode::kBadInput);
  return manifest.status().message();
}

TEST_CASE("a manifest says what each stage reads, on which device, and in which order") {
  const auto manifest = parse_manifest(manifest_text());
  REQUIRE(manifest.ok());
  CHECK(manifest->stages.size() == 3);
  CHECK(manifest->stages[1].device == 1);
  CHECK(manifest->stages[2].inputs[1].stage == 1);
  CHECK(manifest->stages[0].inputs[0].stage == kFromCaller);
  CHECK(manifest->stages[2].predicted_us == 12.5);
  CHECK(manifest->stages[0].predicted_us == 0);
  CHECK(manifest->outputs[0].stage == 2);
}

TEST_CASE("what stands for all axes is given to the engine by their names") {
  const auto manifest = parse_manifest(changed(R"("shape": [4]}],
    "outputs")",
                                               R"("shape": ["n", "m"]}],
    "outputs")"));
  REQUIRE_MESSAGE(manifest.ok(), manifest.status().message());
  const auto value_of_n = [&](std::vector<DimSetting> given) {
    uint64_t value = 0;
    for (const DimSetting& dim : ManifestDims(*manifest).with(given)) {
      if (dim.name == "n") value = dim.value;
    }
    return value;
  };
  CHECK(value_of_n({{"*", 3}}) == 3);
  CHECK(value_of_n({{"n", 4}, {"*", 3}}) == 4);
  CHECK(value_of_n({{"x[0]", 5}, {"*", 3}}) == 5);
  CHECK(value_of_n({{"x[1]", 5}, {"*", 3}}) == 3);
  CHECK(value_of_n({{"m", 5}}) == 0);
}

TEST_CASE("a manifest that contradicts itself is refused with the place") {
  CHECK(refusal("[]").find("JSON object") != std::string::npos);
  CHECK(refusal(changed("\"format_version\": 1", "\"format_version\": 2")).find("format_version") !=
        std::string::npos);
  CHECK(refusal(changed("\"device\": \"cpu:1\"", "\"device\": \"gpu:0\"")).find("gpu:0") !=
        std::string::npos);
  CHECK(refusal(changed("\"name\": \"b\", \"stage\": 1", "\"name\": \"b\", \"stage\": 0"))
            .find("stage 0 does not make") != std::string::npos);
  CHECK(refusal(changed("\"stage\": 1}", "\"stage\": 7}")).find("stages[2].inputs[1].stage") !=
        std::string::npos);
  CHECK(refusal(changed("[{\"name\": \"x\"}], \"outputs\": [{\"name\": \"a\"}]",
                        "[{\"name\": \"q\"}], \"outputs\": [{\"name\": \"a\"}]"))
            .find("neither an input of the model") != std::string::npos);
  CHECK(refusal(changed("\"predicted_us\": 12.5", "\"predicted_us\": -1")).find("microseconds") !=
        std::string::npos);
}

TEST_CASE("a manifest tells which inputs of the model always have a value") {
  const auto with = [](const std::string& set) {
    return changed("\"order\"", "\"set\": " + set + ", \"order\"");
  };
  const auto manifest = parse_manifest(with(R"({"use_cache": "false", "a=b": "1,2.5"})"));
  REQUIRE(manifest.ok());
  REQUIRE(manifest->set.size() == 2);
  CHECK(manifest->set[0].name == "a=b");
  CHECK(manifest->set[0].values == std::vector<double>{1, 2.5});
  CHECK(manifest->set[1].values == std::vector<double>{0});
  CHECK(parse_manifest(manifest_text())->set.empty());
  CHECK(refusal(with("[1]")).find("manifest.set: expected an object") != std::string::npos);
  for (const char* value : {"0", "\"\"", "\"no\"", "\"b=1\"", "null"}) {
    CHECK(refusal(with(std::string("{\"x\": ") + value + "}")).find("manifest.set.x: expected") !=
          std::string::npos);
  }
}

TEST_CASE("a manifest never names a file outside of its directory") {
  CHECK(refusal(changed("\"stage_1.onnx\"", "\"../../etc/passwd\"")).find("beside the manifest") !=
        std::string::npos);
  CHECK(refusal(changed("\"stage_1.onnx\"", "\"stage_1.onnx\\u0000.x\""))
            .find("beside the manifest") != std::string::npos);
}

TEST_CASE("a manifest without a device or without a stage is refused") {
  CHECK(refusal(changed("[\"cpu:0\", \"cpu:1\"]", "[]"))
            .find("manifest.devices: expected at least one name") != std::string::npos);
  CHECK(refusal(R"({"format_version": 1, "model": "m.onnx", "graph": "m", "topology": "two",
    "devices": ["cpu:0"], "inputs": [], "outputs": [], "stages": [], "order": []})")
            .find("manifest.stages: expected at least one stage") != std::string::npos);
}

TEST_CASE("a tensor that two would make, the caller or stages, is refused") {
  CHECK(refusal(changed("[{\"name\": \"y\"}]", "[{\"name\": \"y\"}, {\"name\": \"x\"}]"))
            .find("manifest.stages[2].outputs: 'x' is an input of the model") != std::string::npos);
  CHECK(refusal(changed("[{\"name\": \"b\"}]", "[{\"name\": \"b\"}, {\"name\": \"a\"}]"))
            .find("manifest.stages[1].outputs: 'a' is made twice") != std::string::npos);
  CHECK(refusal(changed("[{\"name\": \"x\", \"type\"",
                        "[{\"name\": \"x\"}, {\"name\": \"x\", \"type\""))
            .find("manifest.inputs: 'x' is there twice") != std::string::npos);
}

TEST_CASE("an order that runs a stage too early, twice or never is refused") {
  CHECK(refusal(changed("[0, 1, 2]}", "[0, 2, 1]}")).find("before one that it reads from") !=
        std::string::npos);
  CHECK(refusal(changed("[0, 1, 2]}", "[0, 1, 1]}")).find("comes twice") != std::string::npos);
  CHECK(refusal(changed("[0, 1, 2]}", "[0, 1]}")).find("every stage once") != std::string::npos);
}

}  // namespace
}  // namespace placeto
