// A small model, and its stages as a placement has them, in files: for tests of what runs them.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <string>

#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tools/export/onnx_export.h"

namespace placeto::test {

struct WrittenSplit {
  std::string model, stages;  // paths: a file, a directory
};

// Into the folder, as model.onnx and stages. Without a rule the stages are those that the placement
// records.
inline WrittenSplit write_split(const Folder& folder, const OnnxBuilder& model,
                                const PlacementSpec& placement,
                                std::optional<StageRule> rule = std::nullopt,
                                const Prediction& prediction = {}) {
  WrittenSplit written{folder.path("model.onnx"), folder.path("stages")};
  std::ofstream(written.model, std::ios::binary) << model.bytes();
  auto placed = placed_model(written.model, placement, {});
  REQUIRE_MESSAGE(placed.ok(), placed.status().message());
  placed->prediction = prediction;
  const auto read = PlacedModel::read(written.model, *placed);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  REQUIRE(read->write_stages(written.stages, rule).ok());
  return written;
}

}  // namespace placeto::test
