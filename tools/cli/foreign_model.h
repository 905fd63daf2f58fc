// Models in formats that are not read here, told by their content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace placeto::cli {

struct ForeignModel {
  std::string format;   // "a TensorFlow Lite model"
  std::string convert;  // how to get a file that is read
};

// From the first bytes of a file; kForeignHead of them are enough.
inline constexpr size_t kForeignHead = 4096;
std::optional<ForeignModel> foreign_model(std::span<const uint8_t> head);

// A Failure that names the format and what to convert the file with, if it is one of those, also
// where it comes through standard input or a pipe (input_path, graph_input.h). Nothing happens if
// it cannot be read: whoever reads it says so.
void refuse_foreign_model(const std::string& path);

// A Failure if the file is a graph, topology, placement or policy, where `expected` is something
// else: "an ONNX model".
void refuse_own_file(const std::string& path, const std::string& expected);

}  // namespace placeto::cli
