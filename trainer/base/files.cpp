#include "trainer/base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "runtime/base/sha256.h"

namespace placeto::train {
namespace {

std::string reason(const std::string& path, const char* what) {
  return path + ": cannot " + what + ": " + std::strerror(errno);
}

Status failed(const std::string& path, const char* what) {
  return Status::io(reason(path, what));
}

Status unreadable(const std::string& path, const char* what) {
  return Status::bad_input(reason(path, what));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Sha256Digest digest_of(std::string_view content) {
  return sha256({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
}

// Renaming over a device would replace it.
Status check_regular(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return Status::io(path + ": cannot write: expected a regular file, or none");
  }
  return {};
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(path, "open");
  std::string content;
  char buffer[65'536];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    content.append(buffer, count);
  }
  if (std::ferror(file.get()) != 0) return unreadable(path, "read");
  return content;
}

Status check_writable(const std::string& path) {
  if (Status s = check_regular(path); !s.ok()) return s;
  const std::string part = path + ".part";
  if (!File(std::fopen(part.c_str(), "wb"))) return failed(path, "create");
  std::remove(part.c_str());
  return {};
}

Status write_whole(const std::string& path, std::string_view content) {
  if (Status s = check_regular(path); !s.ok()) return s;
  const std::string part = path + ".part";
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return failed(part, "create");
  bool good = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  good = good && std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  const int error = errno;
  good = std::fclose(file) == 0 && good;
  if (good && std::rename(part.c_str(), path.c_str()) == 0) return {};
  if (!good) errno = error;
  Status status = failed(path, "write");
  std::remove(part.c_str());
  return status;
}

Status write_sealed(const std::string& path, std::string_view content) {
  const Sha256Digest digest = digest_of(content);
  std::string sealed(content);
  sealed.append(reinterpret_cast<const char*>(digest.data()), digest.size());
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
