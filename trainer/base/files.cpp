#include "trainer/base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>

#include "runtime/base/sha256.h"
#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/io/one_name.h"
#include "tools/io/output_paths.h"

namespace placeto::train {
namespace {

Status failed(const std::string& path, const char* what) {
  return Status::io(path + ": cannot " + what + ": " + std::strerror(errno));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Sha256Digest digest_of(std::string_view content) {
  return sha256(as_bytes(content));
}

}  // namespace

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool has_content(const std::string& path) {
  std::error_code error;
  return std::filesystem::file_size(path, error) > 0 && !error;
}

Result<std::string> read_text(const std::string& path) {
  const auto bytes = read_file(path, std::numeric_limits<uint64_t>::max());
  if (!bytes.ok()) return Status::bad_input(bytes.status().message());
  return std::string(bytes->begin(), bytes->end());
}

Status write_whole(const std::string& path, std::span<const uint8_t> content) {
  return write_file_atomically(path, content);
}

Status write_whole(const std::string& path, std::string_view content) {
  return write_file_atomically(path, content);
}

Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
  std::set<std::string> read;
  for (const std::string& path : inputs) read.insert(one_name(path));
  return check_output_paths(outputs, read);
}

Status write_sealed(const std::string& path, std::string_view content) {
  const Sha256Digest digest = digest_of(content);
  std::string sealed(content);
  sealed += as_text(digest);
  return write_whole(path, sealed);
}

Result<std::string> read_sealed(const std::string& path) {
  Result<std::string> content = read_text(path);
  if (!content.ok()) return content;
  constexpr size_t kDigest = sizeof(Sha256Digest);
  if (content->size() >= kDigest) {
    const size_t length = content->size() - kDigest;
    const Sha256Digest digest = digest_of(std::string_view(*content).substr(0, length));
    if (std::memcmp(digest.data(), content->data() + length, kDigest) == 0) {
      content->resize(length);
      return content;
    }
  }
  return Status::bad_input(path + ": cut or damaged: its contents do not match its SHA-256");
}

Status append(const std::string& path, std::string_view content) {
  const File file(std::fopen(path.c_str(), "ab"));
  if (!file) return failed(path, "open");
  const bool good = std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
                    std::fflush(file.get()) == 0;
  return good ? Status{} : failed(path, "append to");
}

}  // namespace placeto::train
