#include "tools/io/read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>
#include <variant>

#include "runtime/format/file.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"
#include "runtime/graph/text.h"
#include "runtime/policy/guide.h"
#include "tools/io/json_forms.h"
#include "tools/io/json_reader.h"
#include "tools/io/json_scanner.h"
#include "tools/io/policy_json.h"

namespace placeto {
namespace {

using Bytes = std::vector<uint8_t>;

std::string shown(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Result<Bytes> read_bytes(const std::string& path, const Limits& limits) {
  if (path == "-") return read_descriptor(STDIN_FILENO, shown(path), limits.max_file_bytes);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) {
    const int pipe = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (pipe < 0) return Status::io(path + ": cannot open: " + std::strerror(errno));
    Result<Bytes> bytes = read_descriptor(pipe, path, limits.max_file_bytes);
    ::close(pipe);
    return bytes;
  }
  return read_file(path, limits.max_file_bytes);
}

// What content is that is no file of Placeto.
Status neither(std::span<const uint8_t> bytes, const std::string& expected) {
  // The version of ONNX's format, and then a field that has a length.
  const bool like_onnx =
      bytes.size() > 2 && bytes[0] == 0x08 && bytes[1] < 0x20 && (bytes[2] & 7) == 2;
  const char* const what = bytes.empty() ? "is empty"
                           : as_text(bytes).starts_with("version https://git-lfs")
                               ? "stands for a file that Git LFS has not fetched"
                           : like_onnx ? "is a protobuf message, as ONNX models are"
                                       : "is neither a binary file of Placeto nor a JSON object";
  return Status::bad_input(std::string(what) + ", expected " + expected);
}

// A file's content is measured as it is given: the binary form of JSON may be longer.
Status check_length(const Bytes& bytes, const Limits& limits) {
  if (bytes.size() <= limits.max_file_bytes) return {};
  return bad_input({"is ", bytes.size(), " bytes long, expected at most ", limits.max_file_bytes});
}
Limits limits_of_binary(const Bytes& given, Limits limits) {
  if (detect(given) == FileKind::kUnknown) limits.max_file_bytes = kNoLimits.max_file_bytes;
  return limits;
}

// The binary form of a file's content, whichever form it has.
Result<Bytes> to_binary(Bytes bytes, FileKind expected, const Limits& limits) {
  if (Status s = check_length(bytes, limits); !s.ok()) return s;
  if (detect(bytes) != FileKind::kUnknown) return bytes;  // decoding names a kind not expected
  const std::string_view text = as_text(bytes);
  const std::string wanted = std::string("a ") + name_of(expected);
  if (!looks_like_json(text)) return neither(bytes, wanted);
  const FileKind found = detect_json(text);
  if (found != expected && found != FileKind::kUnknown) {
    return Status::bad_input(std::string("is a ") + name_of(found) + " in JSON, expected " +
                             wanted);
  }
  return expected == FileKind::kPolicy ? policy_from_json(text, limits)
                                       : json_to_buffer(text, expected, limits);
}

template <class Spec>
Result<Spec> decode_bytes(Bytes bytes, FileKind kind, const Limits& limits,
                          Result<Spec> (*decode)(std::span<const uint8_t>, const Limits&)) {
  const Limits of_binary = limits_of_binary(bytes, limits);
  Result<Bytes> binary = to_binary(std::move(bytes), kind, limits);
  if (!binary.ok()) return binary.status();
  return decode(*binary, of_binary);
}

template <class Spec>
Result<Spec> read_spec(const std::string& path, FileKind kind, const Limits& limits,
                       Result<Spec> (*decode)(std::span<const uint8_t>, const Limits&)) {
  Result<Bytes> bytes = read_bytes(path, limits);
  if (!bytes.ok()) return bytes.status();
  return decode_bytes(std::move(*bytes), kind, limits, decode).at(shown(path));
}

// Builds the object to check the description.
template <class Object, class Spec>
Result<Object> build(Result<Spec> spec, const std::string& path, const Limits& limits) {
  if (!spec.ok()) return spec.status();
  return Object::build(*std::move(spec), limits).at(shown(path));
}

template <class Object, class Spec>
Result<AnySpec> checked(Result<Spec> spec, const Limits& limits) {
  if (!spec.ok()) return spec.status();
  Result<Object> object = Object::build(*std::move(spec), limits);
  if (!object.ok()) return object.status();
  return AnySpec(object->spec());
}

Result<AnySpec> decode_any(Bytes bytes, const Limits& limits) {
  FileKind kind = detect(bytes);
  if (kind == FileKind::kUnknown) {
    if (!looks_like_json(as_text(bytes))) {
      return neither(bytes, "a graph, topology, placement or policy");
    }
    kind = detect_json(as_text(bytes));
  }
  switch (kind) {
    case FileKind::kGraph:
      return checked<Graph>(decode_bytes(std::move(bytes), kind, limits, decode_graph), limits);
    case FileKind::kTopology:
      return checked<Topology>(decode_bytes(std::move(bytes), kind, limits, decode_topology),
                               limits);
    case FileKind::kPlacement: {
      auto spec = decode_bytes(std::move(bytes), kind, limits, decode_placement);
      if (!spec.ok()) return spec.status();
      return AnySpec(*std::move(spec));
    }
    case FileKind::kPolicy: {
      const Limits of_binary = limits_of_binary(bytes, limits);
      auto binary = to_binary(std::move(bytes), kind, limits);
      if (!binary.ok()) return binary.status();
      if (Status s = check_policy(*binary, of_binary); !s.ok()) return s;
      return AnySpec(PolicyFile{*std::move(binary)});
    }
    case FileKind::kUnknown:
      break;
  }
  return Status::bad_input(
      "its fields do not tell what it is, expected \"nodes\" (a graph), \"devices\" that are "
      "objects (a topology), \"assignment\" (a placement) or \"tensors\" (a policy)");
}

}  // namespace

Result<GraphSpec> read_graph_spec(const std::string& path, const Limits& limits) {
  return read_spec(path, FileKind::kGraph, limits, decode_graph);
}

Result<TopologySpec> read_topology_spec(const std::string& path, const Limits& limits) {
  return read_spec(path, FileKind::kTopology, limits, decode_topology);
}

Result<PlacementSpec> read_placement(const std::string& path, const Limits& limits) {
  return read_spec(path, FileKind::kPlacement, limits, decode_placement);
}

Result<Graph> read_graph(const std::string& path, const Limits& limits) {
  return build<Graph>(read_graph_spec(path, limits), path, limits);
}

Result<Topology> read_topology(const std::string& path, const Limits& limits) {
  return build<Topology>(read_topology_spec(path, limits), path, limits);
}

Result<Graph> parse_graph(std::vector<uint8_t> bytes, const std::string& name,
                          const Limits& limits) {
  Result<GraphSpec> spec = decode_bytes(std::move(bytes), FileKind::kGraph, limits, decode_graph);
  if (!spec.ok()) return spec.status().at(name);
  return build<Graph>(std::move(spec), name, limits);
}

Result<Topology> parse_topology(std::vector<uint8_t> bytes, const std::string& name,
                                const Limits& limits) {
  Result<TopologySpec> spec =
      decode_bytes(std::move(bytes), FileKind::kTopology, limits, decode_topology);
  if (!spec.ok()) return spec.status().at(name);
  return build<Topology>(std::move(spec), name, limits);
}

Result<std::shared_ptr<const Policy>> read_policy(const std::string& path, const Limits& limits) {
  Result<Bytes> bytes = read_bytes(path, limits);
  if (!bytes.ok()) return bytes.status();
  const Limits of_binary = limits_of_binary(*bytes, limits);
  Result<Bytes> binary = to_binary(*std::move(bytes), FileKind::kPolicy, limits);
  if (!binary.ok()) return binary.status().at(shown(path));
  return Policy::load(*binary, Policy::Bytes::kCopy, known_features(), of_binary).at(shown(path));
}

Result<AnySpec> read_any(const std::string& path, const Limits& limits) {
  Result<Bytes> bytes = read_bytes(path, limits);
  if (!bytes.ok()) return bytes.status();
  return decode_any(*std::move(bytes), limits).at(shown(path));
}

FileKind kind_of(const AnySpec& spec) {
  static_assert(std::variant_size_v<AnySpec> == std::size(kFileKinds));
  return kFileKinds[spec.index()];
}

}  // namespace placeto
