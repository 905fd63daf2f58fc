// Sessions of ONNX Runtime with the settings that placeto has. Only for code that is built with it.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/staged_model.h"

namespace placeto {

Ort::Env& engine_environment();

// What throws inside becomes a Status, kBadInput unless said otherwise.
Status engine_failure(const Ort::Exception& error);

// `device` is the name in the topology: the number behind its colon says which one of several.
Result<Ort::SessionOptions> session_options(const SessionSettings& settings,
                                            const std::string& provider, const std::string& device);

Result<Ort::Session> open_session(const std::string& file, const Ort::SessionOptions& options);

std::vector<TensorInfo> inputs_of(const Ort::Session& session);
std::vector<TensorInfo> outputs_of(const Ort::Session& session);

}  // namespace placeto
