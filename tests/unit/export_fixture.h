// A small model, its placement, and a folder to export it into.
#pragma once

#include <filesystem>

#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tools/export/placed.h"

namespace placeto::test {

namespace fs = std::filesystem;

//   x - a - b - y      a on device 0, b on device 1; both read w and the constant k; a skips an
//                      optional input
inline OnnxBuilder pair_model() {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.weight("w", {4});
  auto& constant = b.node("Constant", {}, {"k"}, "constant");
  auto* value = constant.add_attribute();
  value->set_name("value_float");
  value->set_type(onnx::AttributeProto::FLOAT);
  value->set_f(2);
  b.node("Clip", {"x", "", "k"}, {"p"}, "a");
  b.node("Add", {"p", "w"}, {"q"}, "b0");
  b.node("Mul", {"q", "w"}, {"r"}, "b1");
  b.node("Mul", {"r", "k"}, {"y"}, "b2");
  b.node("Neg", {"q"}, {"unused"}, "dead");
  b.output("y");
  return b;
}

inline Placed placed_pair() {
  return {"test",
          "host",
          {"cpu:0", "gpu:0"},
          {{"a", "Clip", 0, 0},
           {"b0", "Add", 0, 0},
           {"b1", "Mul", 1, 0},
           {"b2", "Mul", 1, 0},
           {"dead", "Neg", 1, 0}}};
}

}  // namespace placeto::test
