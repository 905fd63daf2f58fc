// Execution providers of ONNX Runtime: what the engine, its options, Placeto's and engine
// descriptions call them. Names that are not here mean themselves: descriptions may have any.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

struct Provider {
  const char* listed;   // by the engine, as available and in its profiles
  const char* name;     // in Placeto's options and in descriptions; "": `listed`
  const char* also;     // another spelling; "": there is none
  const char* devices;  // what the engine calls devices that it may run, but for `name`: "gpu cuda"
  const char* generic;  // of the engine's one function that appends most; nullptr: has its own, or
                        // needs none, or is appended nowhere here
};

std::span<const Provider> providers();

// By any of its names, all but `listed` in small letters or not; nullptr if there is none.
const Provider* find_provider(std::string_view text);

// "directml" of "dml", "DirectML" and "DmlExecutionProvider"; what is none of these names is
// returned as it is.
std::string provider_named(std::string_view text);

// "cpu, cuda, tensorrt (trt), ...": those that have a name, for messages.
std::string provider_names();

// Whether the provider ("CUDAExecutionProvider") is what the engine's name of a device ("cuda",
// "gpu:0", "CUDAExecutionProvider") asks for. "gpu" and "npu" are served by several.
bool provider_serves(const std::string& listed, const std::string& engine_name);

// Whether it computes on the processor for a device of that name, as others than "cpu" do.
bool runs_on_processor(std::string_view provider, const std::string& device);

// The number behind the colon of a device's name, "0" if there is none.
std::string ordinal_of(const std::string& device);

// The option device_type of a provider that the engine's one function appends, for a device ("npu",
// "gpu:1"): without it OpenVINO runs on the processor. "" where it takes none. Fails with
// kInvalidArgument where it cannot be told which of several is meant, and this is not the first.
Result<std::string> device_type(const Provider& provider, const std::string& device);

// ASCII letters.
std::string in_small_letters(std::string_view text);

}  // namespace placeto
