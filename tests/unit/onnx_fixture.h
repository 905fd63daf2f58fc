// Models that tests build, imported.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/onnx_models.h"
#include "tools/onnx/analysis.h"
#include "tools/onnx/import.h"

namespace placeto::test {

inline constexpr const char* kMicrosoft = "com.microsoft";

inline Result<ImportedGraph> import(const OnnxBuilder& builder, std::vector<DimSetting> dims = {},
                                    bool copy_shared = false) {
  ImportOptions options;
  options.settings.dims = std::move(dims);
  options.copy_shared = copy_shared;
  const std::string bytes = builder.bytes();
  return import_onnx(as_bytes(bytes), "model", options);
}

inline ImportedGraph imported(const OnnxBuilder& builder, std::vector<DimSetting> dims = {},
                              bool copy_shared = false) {
  auto result = import(builder, std::move(dims), copy_shared);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *std::move(result);
}

inline std::string refusal(const OnnxBuilder& builder, StatusCode code = StatusCode::kBadInput,
                           std::vector<DimSetting> dims = {}) {
  const auto result = import(builder, std::move(dims));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == code);
  return result.status().message();
}

inline const NodeSpec& node(const ImportedGraph& imported, const std::string& name) {
  const auto& nodes = imported.spec.nodes;
  const auto it =
      std::find_if(nodes.begin(), nodes.end(), [&](const NodeSpec& n) { return n.name == name; });
  REQUIRE_MESSAGE(it != nodes.end(), name);
  return *it;
}

inline NodeSpec last_node(const OnnxBuilder& builder) {
  return imported(builder).spec.nodes.back();
}

// Bytes of the outputs of the last node. All shapes have to be known.
inline std::vector<uint64_t> outputs_of_last(const OnnxBuilder& builder) {
  const std::string bytes = builder.bytes();
  const auto result = import_onnx(as_bytes(bytes), "model", {});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  for (const UnknownShape& unknown : result->report.unknown) {
    FAIL_CHECK(unknown.op, ": ", unknown.problem);
  }
  return result->spec.nodes.back().outputs;
}

// What is known of the lengths of a tensor of the model.
inline std::optional<Dims> dims_of(const OnnxBuilder& builder, const std::string& tensor) {
  const Result<Analysis> analysis = analyze(builder.model());
  REQUIRE_MESSAGE(analysis.ok(), analysis.status().message());
  const Value* value = analysis->scope.find(tensor);
  REQUIRE(value != nullptr);
  return value->dims();
}

}  // namespace placeto::test
