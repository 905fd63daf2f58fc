// A small model, and its stages on two devices: for tests of what runs them.
#pragma once

#include <string>

#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tests/support/written_split.h"

namespace placeto::test {

//        / relu - tanh \.
//   x --                add - y
//        \  sigmoid    /
inline OnnxBuilder diamond(const std::string& axis) {
  OnnxBuilder b;
  b.input("x", {axis, "8"});
  b.node("Relu", {"x"}, {"a"}, "relu");
  b.node("Tanh", {"a"}, {"c"}, "tanh");
  b.node("Sigmoid", {"x"}, {"b"}, "sigmoid");
  b.node("Add", {"c", "b"}, {"y"}, "add");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {axis, "8"});
  return b;
}

// The diamond with the sigmoid on a device of its own: three stages.
struct SplitDiamond {
  explicit SplitDiamond(const std::string& axis) {
    PlacementSpec placement;
    placement.devices = {"cpu:0", "cpu:1"};
    placement.assignment = {0, 0, 1, 0};
    const WrittenSplit written = write_split(folder, diamond(axis), placement, StageRule::kOverlap);
    model = written.model;
    stages = written.stages;
  }
  Folder folder;
  std::string model, stages;
};

}  // namespace placeto::test
