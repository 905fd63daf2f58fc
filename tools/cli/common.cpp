#include "tools/cli/common.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "runtime/format/file.h"
#include "tools/io/write.h"

namespace placeto::cli {

// An output goes to standard output, so nothing else may.
static bool output_is_printed = false, json_is_expected = false;

ExitStatus exit_status(const Status& status, ExitStatus io) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kDone;
    case StatusCode::kInfeasible:
    case StatusCode::kNotFound:
    case StatusCode::kStopped:  // no placement, either
      return kNoFeasiblePlacement;
    case StatusCode::kInvalidArgument:
      return kBadUsage;
    case StatusCode::kBadInput:
      return kBadInputFile;
    case StatusCode::kIo:
      return io;
    case StatusCode::kInternal:
    case StatusCode::kOutOfMemory:
      return kInternalError;
  }
  return kInternalError;
}

void require(const Status& status, ExitStatus io) {
  if (!status.ok()) throw Failure(exit_status(status, io), status.message(), status_word(status));
}

const char* status_word(const Status& status) {
  if (status.code() == StatusCode::kNotFound) return "not_found";
  return status.code() == StatusCode::kStopped ? "stopped" : nullptr;
}

bool Common::color() const {
  const char* wish = std::getenv("NO_COLOR");  // no-color.org: set to anything but nothing
  const bool unwanted = no_color || (wish != nullptr && wish[0] != '\0');
  return !json && !unwanted && isatty(STDOUT_FILENO) == 1;
}

void add_common(Command& command, Common& common) {
  command.flag("--json", common.json, "Print one JSON object and nothing else");
  command.flag("--no-color", common.no_color, "Plain text even on a terminal, as with NO_COLOR");
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// However it is written: "x", "./x" and a link to x are one file, whether x is there or not.
static std::filesystem::path one_name(const std::string& path) {
  std::error_code error;
  const auto file = std::filesystem::weakly_canonical(
      std::filesystem::absolute(without_links(path), error), error);
  return file.empty() ? std::filesystem::path(path) : file;
}

void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::set<fs::path> seen, read;
  bool reads_stdin = false;
  for (const std::string& path : inputs) {
    if (path == "-") {
      if (reads_stdin) throw Failure(kBadUsage, "standard input: given for two inputs");
      reads_stdin = true;
    } else if (!path.empty()) {
      read.insert(one_name(path));
    }
  }
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (path == "-") {
      if (output_is_printed) throw Failure(kBadUsage, "standard output: given for two outputs");
      if (json_is_expected) {
        throw Failure(kBadUsage, "--json: standard output is taken, by the output '-'");
      }
      output_is_printed = true;
      continue;
    }
    std::error_code error;
    const fs::path file = one_name(path);
    if (!seen.insert(file).second) {
      throw Failure(kBadUsage, fmt::format("{}: given for two outputs", path));
    }
    if (read.contains(file)) {
      throw Failure(kBadUsage, fmt::format("{}: is an input and would be overwritten, expected "
                                           "another file for the output",
                                           path));
    }
    if (fs::is_directory(path, error)) {
      throw Failure(kInternalError, fmt::format("{}: is a directory, expected a file", path));
    }
    if (is_stream(path)) continue;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
      throw Failure(kInternalError, fmt::format("{}: is neither a file nor a pipe", path));
    }
    const fs::path parent = fs::path(without_links(path)).parent_path();
    const fs::path directory = parent.empty() ? fs::path(".") : parent;
    if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
      throw Failure(kInternalError, fmt::format("{}: cannot write there: {} is not a directory",
                                                path, directory.string()));
    }
    if (access(directory.c_str(), W_OK | X_OK) != 0) {
      throw Failure(kInternalError,
                    fmt::format("{}: cannot write there: {}", path, std::strerror(errno)));
    }
  }
}

void print(std::string_view text) {
  if (output_is_printed) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    return;
  }
  static bool unread = false;  // whoever read it has seen enough, as `head` does: no error
  if (unread) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  unread = errno == EPIPE;
  if (unread) return;
  throw Failure(kInternalError,
                fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void expect_json(bool expected) {
  json_is_expected = expected;
}

static bool printed_json = false;

bool json_was_printed() {
  return printed_json;
}

void print_json(const std::string& object) {
  printed_json = true;
  print(object);
}

void print_json(const Json& object) {
  print_json(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void note(std::string_view text) {
  std::string clean;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('\n', begin);  // a message may have several lines; names stay harmless
    if (begin != 0) clean += '\n';
    clean += printable(text.substr(begin, end == std::string_view::npos ? end : end - begin));
  }
  std::fputs(fmt::format("placeto: {}\n", clean).c_str(), stderr);
}

bool StatusLine::is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

void StatusLine::show(std::string_view text) {
  if (!is_seen_) return;
  is_shown_ = true;
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::string line = printable(text);
  size_t end = std::min<size_t>(line.size(), is_known ? size.ws_col - 1u : 79u);
  while (end > 0 && end < line.size() && (line[end] & 0xc0) == 0x80) --end;  // inside a letter
  line.resize(end);
  std::fputs(("\r\x1b[K" + line).c_str(), stderr);
}

void StatusLine::clear() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
  is_shown_ = false;
}

void write_text(const std::string& path, std::string_view text) {
  require(write_output(path, text), kInternalError);
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

}  // namespace placeto::cli
