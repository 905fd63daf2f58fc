#include "tools/io/output_paths.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "runtime/format/file.h"
#include "tools/io/one_name.h"
#include "tools/io/write.h"

namespace placeto {

namespace fs = std::filesystem;

static Status check_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return Status::io(path + ": is a directory, expected a file");
  }
  if (is_stream(path)) return {};
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return Status::io(path + ": is neither a file nor a pipe");
  }
  const fs::path parent = fs::path(without_links(path)).parent_path();
  const fs::path directory = parent.empty() ? fs::path(".") : parent;
  const std::string cannot = path + ": cannot write there: ";
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    return Status::io(cannot + directory.string() + " is not a directory");
  }
  if (access(directory.c_str(), W_OK | X_OK) == 0) return {};
  return Status::io(cannot + std::strerror(errno));
}

bool keeps_nothing(const std::string& path) {
  std::error_code error;
  return fs::is_character_file(path, error);
}

Status overwrites_input(const std::string& output) {
  return Status::invalid(output +
                         ": is an input and would be overwritten, expected another file for the "
                         "output");
}

Status check_output_paths(std::span<const std::string> outputs,
                          const std::set<std::string>& inputs) {
  std::set<std::string> seen;
  for (const std::string& path : outputs) {
    if (path.empty()) continue;
    const std::string file = path == "-" ? path : one_name(path);
    if (!seen.insert(file).second) return Status::invalid(path + ": given for two outputs");
    if (path == "-") continue;
    if (inputs.contains(file) && !keeps_nothing(path)) return overwrites_input(path);
    if (Status s = check_writable(path); !s.ok()) return s;
  }
  return {};
}

}  // namespace placeto
