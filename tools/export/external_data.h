// Weights that an ONNX model keeps in files beside it.
//
// A tensor names a file relative to the model's folder, an offset and a length. Engines refuse
// paths that leave the folder, so a model that is written elsewhere needs its own copy; a stage's
// file holds what that stage reads and nothing else, and can be sent to the device's host alone.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Whether any tensor of the model, in nodes, bodies and functions too, is in another file.
bool has_external_data(const onnx::ModelProto& model);

// Copies what the model's tensors take from files below `from_folder` into one new file, `path`,
// and makes the tensors name it as `location`. No file is made if there are no such tensors. Never
// holds more than a megabyte of weights in memory. Fails with kBadInput for a path that leaves the
// folder or a range that is not in its file, and with kIo when a file cannot be read or written.
Status gather_external_data(onnx::ModelProto& model, const std::string& from_folder,
                            const std::string& path, const std::string& location);

}  // namespace placeto
