// Execution providers: their names, and the devices that they serve.
#include <doctest/doctest.h>

#include <set>

#include "tools/devices/providers.h"

namespace placeto {
namespace {

TEST_CASE("every name stands for one provider, in any spelling that people use") {
  std::set<std::string> names;
  for (const Provider& provider : providers()) {
    CHECK(find_provider(provider.listed) == &provider);
    CHECK(names.insert(in_small_letters(provider.listed)).second);
    for (const std::string name : {provider.name, provider.also}) {
      if (name.empty()) continue;
      CHECK(names.insert(name).second);
      CHECK(find_provider(name) == &provider);
      CHECK(provider_named(name) == provider.name);
    }
  }
  for (const char* name : {"dml", "DirectML", "DmlExecutionProvider"}) {
    CHECK(provider_named(name) == "directml");
  }
  for (const char* other : {"", "teapot", "MIGraphXExecutionProvider", "dmlexecutionprovider"}) {
    CHECK(provider_named(other) == other);
  }
  CHECK(find_provider("") == nullptr);
}

TEST_CASE(
    "a provider serves devices by its own name, by their kind, and by its listed name alone") {
  CHECK(provider_serves("CPUExecutionProvider", "cpu"));
  CHECK(provider_serves("XnnpackExecutionProvider", "cpu:0"));
  CHECK(provider_serves("TensorrtExecutionProvider", "cuda"));
  CHECK(provider_serves("TensorrtExecutionProvider", "trt"));
  CHECK_FALSE(provider_serves("CUDAExecutionProvider", "tensorrt"));
  CHECK_FALSE(provider_serves("TensorrtExecutionProvider", "CUDAExecutionProvider"));
  for (const char* both : {"OpenVINOExecutionProvider", "CoreMLExecutionProvider"}) {
    CHECK(provider_serves(both, "gpu:1"));
    CHECK(provider_serves(both, "npu"));
    CHECK_FALSE(provider_serves(both, "cpu"));
  }
  CHECK(provider_serves("DmlExecutionProvider", "dml"));
  CHECK_FALSE(provider_serves("DmlExecutionProvider", "cuda"));
  CHECK(provider_serves("MyExecutionProvider", "MyExecutionProvider"));
  CHECK_FALSE(provider_serves("MyExecutionProvider", "gpu"));
}

TEST_CASE("a provider that computes on the processor is told from those beside it") {
  for (const char* processor : {"cpu", "xnnpack", "XNNPACK", "DnnlExecutionProvider"}) {
    CHECK(runs_on_processor(processor, "cpu:0"));
  }
  CHECK(runs_on_processor("openvino", "cpu:1"));
  CHECK_FALSE(runs_on_processor("openvino", "gpu:1"));
  CHECK_FALSE(runs_on_processor("webgpu", "cpu:0"));
  CHECK_FALSE(runs_on_processor("cuda", "gpu:0"));
  CHECK_FALSE(runs_on_processor("teapot", "cpu:0"));
}

TEST_CASE("the engine is told on which device a provider runs, or that it cannot be is said") {
  const auto told = [](const char* provider, const char* device) {
    const auto type = device_type(*find_provider(provider), device);
    return type.ok() ? *type : type.status().message();
  };
  CHECK(told("openvino", "cpu:1") == "");  // which it runs unless told otherwise
  CHECK(told("openvino", "gpu") == "GPU");
  CHECK(told("openvino", "gpu:0") == "GPU");
  CHECK(told("openvino", "gpu:1") == "GPU.1");
  CHECK(told("openvino", "npu:0") == "NPU");
  CHECK(told("webgpu", "gpu:0") == "");
  CHECK(told("xnnpack", "cpu:3") == "");
  CHECK(
      told("webgpu", "gpu:1") ==
      "device 'gpu:1': ONNX Runtime cannot be told to run 'webgpu' on another gpu than the first");
  CHECK(told("openvino", "npu:1").find("another npu than the first") != std::string::npos);
}

}  // namespace
}  // namespace placeto
