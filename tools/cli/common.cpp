#include "tools/cli/common.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tools/io/json_escapes.h"
#include "tools/io/json_text.h"

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
    case StatusCode::kBufferTooSmall:
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

void add_common(Command& command, Common& common) {
  command.flag("--json", common.json, "Print one JSON object and nothing else");
  command.custom("--no-color", "", "Plain text even on a terminal, as with NO_COLOR",
                 [](const std::string&) {
                   set_output_color(false);
                   return std::string();
                 });
}

void take_standard_output() {
  if (output_is_printed) throw Failure(kBadUsage, "standard output: given for two outputs");
  if (json_is_expected) {
    throw Failure(kBadUsage, "--json: standard output is taken, by the output '-'");
  }
  output_is_printed = true;
  set_output_color(false);  // which was asked of standard output, and tables go elsewhere now
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

static std::string due_json, due_text;
static bool printed_json = false;

bool json_was_printed() {
  return printed_json;
}

void print_json(const std::string& object) {
  due_json += object;
}

void print_done(std::string text) {
  due_text += text;
}

void drop_due() {
  due_json.clear();
  due_text.clear();
}

void print_due() {
  if (!due_text.empty()) print(std::exchange(due_text, ""));
  if (due_json.empty()) return;
  printed_json = true;
  print(with_escapes(std::exchange(due_json, "")));
}

void print_json(const Json& object) {
  print_json(json_text(object) + "\n");
}

void say(std::string_view text) {
  std::string clean;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('\n', begin);  // a message may have several lines; names stay harmless
    if (begin != 0) clean += '\n';
    clean += printable(text.substr(begin, end == std::string_view::npos ? end : end - begin));
  }
  std::fputs(fmt::format("placeto: {}\n", clean).c_str(), stderr);
}

void note(const std::string& text) {
  say("note: " + text);
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

}  // namespace placeto::cli
