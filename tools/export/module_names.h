// What node names of transformers say about the modules that they belong to. Exporters keep the
// module's path in the name of each operator: "/model/layers.0/self_attn/q_proj/MatMul".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/export/placed.h"

namespace placeto {

// "model.layers.0.self_attn.q_proj" for the name above: what follows the last '/' is the operator.
// "layer1.0.conv1" for "/layer1/layer1.0/conv1/Conv", as PyTorch's exporter names what is in a
// container that is a module itself.
// A name without '/' is a path itself, less ".weight" or ".bias". "" for a name that has neither
// '/' nor '.'.
std::string module_path(const std::string& name);

// Digits and nothing else: layers and devices are often named so.
bool is_number(const std::string& text);

// Nodes that hold parameters: the only ones whose names matter to loaders of weights. All nodes if
// none does.
std::vector<const PlacedNode*> nodes_with_weights(const Placed& placed);

// device_map of Hugging Face Accelerate as JSON: the highest modules that are on one device as a
// whole, each with "cpu" or the number of a GPU. Modules whose nodes hold no weights, or next to
// none, are in it, too, but divide nothing. Fails with kInvalidArgument, naming the first node
// that does not fit: one whose name has no module path, or one on another device than its block
// ("layers.3"), which Accelerate never divides. `given`: names as in engine_devices.h.
Result<std::string> hf_device_map(const Placed& placed, std::span<const std::string> given);

// --override-tensor of llama.cpp: regular expressions of GGUF tensor names with buffer types,
// "^blk\.(0|1)\.=CUDA0,^output\.=CPU". Understands GGUF names and module paths with numbered
// layers. Fails with kInvalidArgument, naming the first node that does not fit. `given`: as above.
Result<std::string> llama_override_tensor(const Placed& placed, std::span<const std::string> given);

}  // namespace placeto
