#include "tools/cli/foreign_model.h"

#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/graph/text.h"
#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/io/read.h"

namespace placeto::cli {
namespace {

using Bytes = std::span<const uint8_t>;

bool has_at(Bytes head, size_t at, std::string_view text) {
  return at <= head.size() && as_text(head.subspan(at)).starts_with(text);
}

// https://github.com/huggingface/safetensors#format: a length of eight bytes, then JSON.
bool is_safetensors(Bytes head) {
  if (head.size() < 10 || head[8] != '{') return false;
  for (size_t i = 4; i < 8; ++i) {
    if (head[i] != 0) return false;
  }
  return head[9] == '"' || head[9] == '}' || head[9] == ' ';
}

// An XML document whose first element is <net>.
bool is_openvino(Bytes head) {
  const std::string_view text = as_text(head);
  size_t at = text.find('<');
  while (at != std::string_view::npos && (has_at(head, at, "<?") || has_at(head, at, "<!"))) {
    at = text.find('<', at + 1);
  }
  if (at == std::string_view::npos || !has_at(head, at, "<net")) return false;
  const char next = at + 4 < text.size() ? text[at + 4] : ' ';
  return next == ' ' || next == '\n' || next == '\t' || next == '>';
}

// The name of the first file in a zip archive; "" if it is none.
std::string_view first_in_zip(Bytes head) {
  constexpr size_t kName = 30;
  if (!has_at(head, 0, "PK\x03\x04") || head.size() < kName) return "";
  const size_t length = head[26] | static_cast<size_t>(head[27]) << 8;
  return as_text(head).substr(kName, length);
}

std::optional<ForeignModel> in_zip(std::string_view first) {
  if (first.empty()) return std::nullopt;
  if (first == "metadata.json" || first == "config.json" || first == "model.weights.h5") {
    return ForeignModel{"a Keras model", "keras.Model.export(PATH, format=\"onnx\")"};
  }
  const bool torch = first.ends_with("data.pkl") || first.ends_with("archive_format") ||
                     first.ends_with("/version") || first.ends_with("byteorder") ||
                     first.find("/code/") != std::string_view::npos ||
                     first.ends_with("archive_version") ||
                     first.find("/models/") != std::string_view::npos;
  if (!torch) return std::nullopt;
  return ForeignModel{"a PyTorch file (.pt, .pt2)",
                      "torch.onnx.export(model, example_inputs, \"model.onnx\"); a .pt2 program is "
                      "loaded with torch.export.load first"};
}

}  // namespace

std::optional<ForeignModel> foreign_model(Bytes head) {
  if (has_at(head, 4, "TFL3")) {
    return ForeignModel{"a TensorFlow Lite model",
                        "python -m tf2onnx.convert --tflite FILE --output model.onnx"};
  }
  if (has_at(head, 4, "ORTM")) {
    return ForeignModel{"a model in ONNX Runtime's own format (.ort)",
                        "nothing converts it back: take the .onnx file that it was made from"};
  }
  if (has_at(head, 4, "ET12")) {
    return ForeignModel{
        "an ExecuTorch program",
        "nothing converts it back: export the PyTorch model with torch.onnx.export"};
  }
  if (has_at(head, 0, "GGUF")) {
    return ForeignModel{
        "a GGUF file, which has weights and no graph",
        "optimum-cli export onnx --model MODEL DIRECTORY, from the model that it was "
        "made from"};
  }
  if (is_safetensors(head)) {
    return ForeignModel{"a safetensors file, which has weights and no graph",
                        "optimum-cli export onnx --model MODEL DIRECTORY"};
  }
  if (has_at(head, 0, "\x89HDF\r\n")) {
    return ForeignModel{"an HDF5 file, as of Keras",
                        "python -m tf2onnx.convert --keras FILE --output model.onnx"};
  }
  if (is_openvino(head)) {
    return ForeignModel{"an OpenVINO model",
                        "nothing converts it back: take the ONNX model that it was converted from"};
  }
  if (has_at(head, 0, "\x80\x02") && head.size() > 2 && head[2] != 0) {
    return ForeignModel{"a Python pickle, as old PyTorch files are",
                        "torch.onnx.export(model, example_inputs, \"model.onnx\")"};
  }
  return in_zip(first_in_zip(head));
}

// The first bytes of a file; none if it is no regular one.
static std::vector<uint8_t> head_of(const std::string& path) {
  struct stat info = {};
  if (path == "-" || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return {};
  std::vector<uint8_t> head(kForeignHead);
  head.resize(std::fread(head.data(), 1, head.size(), file.get()));
  return head;
}

void refuse_own_file(const std::string& path, const std::string& expected) {
  const std::vector<uint8_t> head = head_of(path);
  FileKind kind = detect(head);
  if (kind == FileKind::kUnknown && has_at(head, 0, "{")) {
    if (const auto any = read_any(path); any.ok()) kind = kind_of(*any);
  }
  if (kind == FileKind::kUnknown) return;
  throw Failure(kBadInputFile,
                as_given(path) + ": is a " + name_of(kind) + ", expected " + expected);
}

void refuse_foreign_model(const std::string& path) {
  const auto foreign = foreign_model(head_of(input_path(path)));
  if (!foreign) return;
  throw Failure(kBadInputFile,
                as_given(path) + ": is " + foreign->format +
                    ", expected an ONNX model or a graph file; to convert it: " + foreign->convert);
}

}  // namespace placeto::cli
