// A model and a machine to place it on, for commands that take models.
#pragma once

#include <string>

#include "tests/cli/runner.h"
#include "tests/support/onnx_models.h"

namespace placeto::test {

struct ModelFiles : Workplace {
  std::string model = write("model.onnx", convolutional_model().bytes());
  std::string topology = write("topology.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu", "peak_flops": 1e11, "memory_bandwidth": 2e10},
      {"name": "gpu:0", "kind": "gpu", "peak_flops": 1e13, "memory_bandwidth": 4e11}],
      "default_link": {"bandwidth_bytes_per_us": 10000}})");
};

using ModelScene = Refusing<ModelFiles>;

}  // namespace placeto::test
