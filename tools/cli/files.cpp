#include "tools/cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "runtime/format/file.h"
#include "tools/cli/common.h"
#include "tools/export/onnx_export.h"
#include "tools/io/one_name.h"

namespace placeto::cli {
namespace {

namespace fs = std::filesystem;

// By one_name.
struct KnownFiles {
  std::set<std::string> inputs;
  std::map<std::string, std::string> outputs;  // to what the caller calls them
};
KnownFiles& known() {
  static KnownFiles files;
  return files;
}

// What is written to a terminal or to /dev/null overwrites nothing.
bool keeps_nothing(const std::string& path) {
  std::error_code error;
  return fs::is_character_file(path, error);
}

[[noreturn]] void refuse(const std::string& output) {
  throw Failure(kBadUsage, fmt::format("{}: is an input and would be overwritten, expected another "
                                       "file for the output",
                                       output));
}

void check_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw Failure(kInternalError, fmt::format("{}: is a directory, expected a file", path));
  }
  if (is_stream(path)) return;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    throw Failure(kInternalError, fmt::format("{}: is neither a file nor a pipe", path));
  }
  const fs::path parent = fs::path(without_links(path)).parent_path();
  const fs::path directory = parent.empty() ? fs::path(".") : parent;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    throw Failure(kInternalError, fmt::format("{}: cannot write there: {} is not a directory", path,
                                              directory.string()));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    throw Failure(kInternalError,
                  fmt::format("{}: cannot write there: {}", path, std::strerror(errno)));
  }
}

void check_each(const std::vector<std::string>& paths, bool may_replace) {
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (path == "-") {
      take_standard_output();
      continue;
    }
    const std::string file = one_name(path);
    if (!seen.insert(file).second) {
      throw Failure(kBadUsage, fmt::format("{}: given for two outputs", path));
    }
    if (!may_replace) {
      if (known().inputs.contains(file) && !keeps_nothing(path)) refuse(path);
      known().outputs.emplace(file, path);
    }
    check_writable(path);
  }
}

}  // namespace

void expect_inputs(const std::vector<std::string>& paths) {
  bool reads_stdin = false;
  for (const std::string& path : paths) {
    if (path == "-" && reads_stdin) {
      throw Failure(kBadUsage, "standard input: given for two inputs");
    }
    reads_stdin = reads_stdin || path == "-";
    note_input(path);
  }
}

void note_input(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::string file = one_name(path);
  const auto output = known().outputs.find(file);
  if (output != known().outputs.end() && !keeps_nothing(path)) refuse(output->second);
  known().inputs.insert(file);
}

void note_model(const std::string& path) {
  note_input(path);
  if (known().outputs.empty()) return;  // nothing to compare with
  for (const std::string& file : external_files(path)) note_input(file);
}

void check_outputs(const std::vector<std::string>& paths) {
  check_each(paths, false);
}

void check_replacing_outputs(const std::vector<std::string>& paths) {
  check_each(paths, true);
}

void write_text(const std::string& path, std::string text) {
  OutputFiles files;
  files.add(path, std::move(text));
  files.write();
}

void OutputFiles::add(const std::string& path, std::string content) {
  if (!path.empty()) files_.push_back({path, std::move(content)});
}

void OutputFiles::write() const {
  require(write_outputs(files_, print_due), kInternalError);
}

}  // namespace placeto::cli
