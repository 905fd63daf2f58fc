// --override-tensor of llama.cpp (common/arg.cpp): "pattern=buffer type,...": each tensor goes to
// the buffer type of the first pattern, a regular expression, that is found in its name. GGUF calls
// the tensors of layer 3 "blk.3.", and the others token_embd, output_norm and output; where a model
// has an encoder and a decoder (T5), layers and norms begin with "enc." or "dec.".
#include <algorithm>
#include <map>
#include <optional>

#include "runtime/graph/text.h"
#include "tools/export/engine_devices.h"
#include "tools/export/module_names.h"

namespace placeto {
namespace {

struct Part {
  std::string tensor;  // "token_embd"; "blk" or "dec.blk" for a layer
  std::string layer;   // its number
  friend auto operator<=>(const Part&, const Part&) = default;
};

std::vector<std::string> split_path(std::string path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    parts.push_back(path.substr(0, dot));
    path.erase(0, dot + 1);
  }
  return parts;
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return text == name; });
}

// "enc.", "dec.", or "" for what is in neither.
std::string side_of(const std::vector<std::string>& path) {
  for (const std::string& module : path) {
    if (is_one_of(module, {"encoder", "enc"})) return "enc.";
    if (is_one_of(module, {"decoder", "dec"})) return "dec.";
  }
  return "";
}

// Models with one of them alone (BERT, OPT) have layers like any other.
bool has_both_sides(std::span<const PlacedNode* const> nodes) {
  bool encoder = false, decoder = false;
  for (const PlacedNode* node : nodes) {
    const std::string side = side_of(split_path(module_path(node->name)));
    encoder |= side == "enc.";
    decoder |= side == "dec.";
  }
  return encoder && decoder;
}

std::optional<Part> part_of(const std::string& name, bool both_sides) {
  const std::vector<std::string> path = split_path(module_path(name));
  const std::string side = both_sides ? side_of(path) : "";
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (is_one_of(path[i], {"blk", "layers", "layer", "h", "blocks", "block"}) &&
        is_number(path[i + 1])) {
      return Part{side + "blk", path[i + 1]};
    }
  }
  if (path.empty()) return std::nullopt;
  const std::string& last = path.back();
  if (is_one_of(last, {"token_embd", "embed_tokens", "wte", "word_embeddings", "tok_embeddings",
                       "embed_in", "shared"})) {
    return Part{"token_embd", ""};
  }
  if (is_one_of(last, {"position_embd", "wpe", "embed_positions", "position_embeddings"})) {
    return Part{"position_embd", ""};
  }
  if (is_one_of(last, {"output_norm", "norm", "ln_f", "final_layernorm", "final_layer_norm"})) {
    return Part{side + "output_norm", ""};
  }
  if (is_one_of(last, {"output", "lm_head", "embed_out"})) return Part{"output", ""};
  return std::nullopt;
}

std::string pattern(const std::string& tensor, const std::vector<std::string>& layers) {
  std::string begin = "^";
  for (const char c : tensor + ".") begin += c == '.' ? std::string("\\.") : std::string(1, c);
  if (!tensor.ends_with("blk")) return begin;
  std::string numbers;
  for (const std::string& layer : layers) numbers += (numbers.empty() ? "" : "|") + layer;
  return begin + "(" + numbers + ")\\.";
}

bool shorter_first(const std::string& a, const std::string& b) {  // numbers in their order
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

Result<std::string> llama_override_tensor(const Placed& placed,
                                          std::span<const std::string> given) {
  // Names of llama.cpp's buffer types.
  const auto types = numbered_devices(placed, given, "CPU", "CUDA", "buffer type for");
  if (!types.ok()) return types.status();
  std::map<Part, const PlacedNode*> first;
  const std::vector<const PlacedNode*> nodes = nodes_with_weights(placed);
  const bool both_sides = has_both_sides(nodes);
  for (const PlacedNode* node : nodes) {
    const std::optional<Part> part = part_of(node->name, both_sides);
    if (!part.has_value()) {
      return Status::invalid(
          "node " + in_quotes(node->name) +
          " does not fit: expected the name of a GGUF tensor ('blk.0.attn_q') or "
          "a module path with a numbered layer ('/model/layers.0/mlp/fc1/MatMul')");
    }
    const auto [seen, inserted] = first.emplace(*part, node);
    if (inserted || seen->second->device == node->device) continue;
    return Status::invalid("node " + in_quotes(node->name) +
                           " does not fit: " + in_quotes(seen->second->name) +
                           " of the same layer is on another device, expected whole layers");
  }
  std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> layers;
  for (const auto& [part, node] : first) layers[{node->device, part.tensor}].push_back(part.layer);
  std::string text;
  for (auto& [key, numbers] : layers) {
    std::sort(numbers.begin(), numbers.end(), shorter_first);
    text += (text.empty() ? "" : ",") + pattern(key.second, numbers) + "=" + (*types)[key.first];
  }
  return text;
}

}  // namespace placeto
