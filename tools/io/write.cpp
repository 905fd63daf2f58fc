#include "tools/io/write.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "runtime/format/file.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"
#include "runtime/graph/text.h"
#include "tools/io/json_writer.h"

namespace placeto {
namespace {

using Bytes = std::vector<uint8_t>;

Result<Bytes> encode(const GraphSpec& spec) {
  return encode_graph(spec);
}
Result<Bytes> encode(const TopologySpec& spec) {
  return encode_topology(spec);
}
Result<Bytes> encode(const PlacementSpec& spec) {
  return encode_placement(spec);
}

Result<Bytes> encode(const PolicyFile& file) {
  return file.bytes;
}

Result<std::string> json_of(const Result<Bytes>& binary, FileKind kind) {
  if (!binary.ok()) return binary.status();
  return buffer_to_json(*binary, kind);
}

Status write_stream(int stream, const std::string& name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(stream, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return {};  // who read it has seen enough, as `head` does
    if (written < 0) return Status::io("cannot write to " + name + ": " + std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// What ends a program waits until a file is there, or its temporary one gone.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

template <class Spec>
Result<std::string> content_of(const Spec& spec, Encoding encoding) {
  if (encoding == Encoding::kJson) return to_json(spec);
  const Result<Bytes> bytes = encode(spec);
  if (!bytes.ok()) return bytes.status();
  return std::string(as_text(*bytes));
}

template <class Spec>
Status write(const std::string& path, const Spec& spec) {
  if (encoding_for(path) == Encoding::kJson) {
    const Result<std::string> text = to_json(spec);
    return text.ok() ? write_output(path, *text) : text.status().at(path);
  }
  const Result<Bytes> bytes = encode(spec);  // as large as they come, so not copied
  return bytes.ok() ? write_output(path, as_text(*bytes)) : bytes.status().at(path);
}

bool is_file(const std::string& path) {
  return path != "-" && !is_stream(path);
}

Status write_to_stream(const std::string& path, std::string_view bytes) {
  if (path == "-") return write_stream(STDOUT_FILENO, "standard output", bytes);
  const int stream = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (stream < 0) return Status::io(path + ": cannot open: " + std::strerror(errno));
  const Status written = write_stream(stream, path, bytes);
  ::close(stream);
  return written;
}

}  // namespace

bool is_stream(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode));
}

Status write_output(const std::string& path, std::string_view bytes) {
  if (!is_file(path)) return write_to_stream(path, bytes);
  const HeldSignals held;
  return write_file_atomically(path, bytes);
}

Status write_outputs(std::span<const Output> outputs,
                     const std::function<void()>& before_they_appear) {
  for (const Output& output : outputs) {
    if (is_file(output.path)) continue;
    if (Status s = write_to_stream(output.path, output.content); !s.ok()) return s;
  }
  const HeldSignals held;
  std::vector<PendingFile> files;
  for (const Output& output : outputs) {
    if (!is_file(output.path)) continue;
    Result<PendingFile> file = PendingFile::write(output.path, as_bytes(output.content));
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  if (before_they_appear) before_they_appear();
  for (PendingFile& file : files) {
    if (Status s = file.commit(); !s.ok()) return s;
  }
  return {};
}

Encoding encoding_for(const std::string& path) {
  if (path == "-") return Encoding::kJson;
  constexpr std::string_view kExtension = ".json";
  if (path.size() < kExtension.size()) return Encoding::kBinary;
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  const bool json =
      std::equal(path.end() - kExtension.size(), path.end(), kExtension.begin(), same);
  return json ? Encoding::kJson : Encoding::kBinary;
}

Result<std::string> encoded(const GraphSpec& spec, Encoding encoding) {
  return content_of(spec, encoding);
}
Result<std::string> encoded(const TopologySpec& spec, Encoding encoding) {
  return content_of(spec, encoding);
}
Result<std::string> encoded(const PlacementSpec& spec, Encoding encoding) {
  return content_of(spec, encoding);
}
Result<std::string> encoded(const AnySpec& spec, Encoding encoding) {
  return std::visit([&](const auto& one) { return content_of(one, encoding); }, spec);
}

Status write_graph(const std::string& path, const GraphSpec& spec) {
  return write(path, spec);
}
Status write_topology(const std::string& path, const TopologySpec& spec) {
  return write(path, spec);
}
Status write_placement(const std::string& path, const PlacementSpec& spec) {
  return write(path, spec);
}

Result<std::string> to_json(const GraphSpec& spec) {
  return json_of(encode(spec), FileKind::kGraph);
}
Result<std::string> to_json(const TopologySpec& spec) {
  return json_of(encode(spec), FileKind::kTopology);
}
Result<std::string> to_json(const PlacementSpec& spec) {
  return json_of(encode(spec), FileKind::kPlacement);
}
Result<std::string> to_json(const PolicyFile& file) {
  return json_of(encode(file), FileKind::kPolicy);
}

}  // namespace placeto
