// Sessions of ONNX Runtime with the settings that placeto has. Only for code that is built with it.
#pragma once

// The library is loaded when it is first needed, and not linked: it has 45 MB, and most commands do
// without. Its interface is there once engine_status() (staged_model.h) has found no fault, which
// comes before anything else of the engine is used.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/staged_model.h"

namespace placeto {

Ort::Env& engine_environment();

// What the engine throws as a Status, kBadInput. `known`: words that its message may begin with, to
// be left out.
Status engine_failure(const Ort::Exception& error, std::string_view known = {});

// `device` is the name in the topology: the number behind its colon says which one of several.
Result<Ort::SessionOptions> session_options(const SessionSettings& settings,
                                            const std::string& provider, const std::string& device);

Result<Ort::Session> open_session(const std::string& file, const Ort::SessionOptions& options);

std::vector<TensorInfo> inputs_of(const Ort::Session& session);
std::vector<TensorInfo> outputs_of(const Ort::Session& session);

}  // namespace placeto
