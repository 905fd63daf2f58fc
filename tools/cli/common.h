// What the subcommands share: exit statuses, common options, what is printed and said.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/result.h"
#include "tools/options/options.h"
#include "tools/options/units.h"
#include "tools/report/table.h"

namespace placeto::cli {

using Json = nlohmann::ordered_json;

enum ExitStatus : int {
  kDone = 0,
  kNoFeasiblePlacement = 1,
  kBadUsage = 2,
  kBadInputFile = 3,
  kInternalError = 4,  // also: an output cannot be written
};

// Ends the program with that status and message. Nothing has been written when it is thrown.
class Failure : public std::runtime_error {
 public:
  Failure(ExitStatus exit_status, const std::string& message, const char* what = nullptr)
      : std::runtime_error(message), status(exit_status), word(what) {}
  ExitStatus status;
  const char* word;  // what --json calls it; nullptr: by its exit status
};

// "infeasible" is proved; "not_found" and "stopped" leave no placement, either.
const char* status_word(const Status& status);

// What a Status means for the exit status. A file that cannot be opened is a bad input; pass
// kInternalError where the Status is about an output.
ExitStatus exit_status(const Status& status, ExitStatus io = kBadInputFile);

// The value, or a Failure with the Status's message.
void require(const Status& status, ExitStatus io = kBadInputFile);
template <class T>
T require(Result<T> result, ExitStatus io = kBadInputFile) {
  require(result.status(), io);
  return std::move(*result);
}

// Options every subcommand has.
struct Common {
  bool json = false;
};
void add_common(Command& command, Common& common);

// Text to standard output; a Failure if it does not arrive there in full, unless who reads it has
// gone.
void print(std::string_view text);
// What the command says once it is done: where it fails before, an error is all that is printed.
void print_json(const Json& object);  // one line
void print_json(const std::string& object);
void print_done(std::string text);  // for people: "net.graph: 417 nodes"
// At once: the command is done, or fails for what that says.
void print_due();
// Never: the command has failed.
void drop_due();
bool json_was_printed();
// Whether the command line asks for JSON: then no output may be standard output, too.
void expect_json(bool expected);
// For an output, "-": what is printed for people then goes to standard error. A Failure if it is
// taken.
void take_standard_output();
// "placeto: " and the text, a line on standard error.
void say(std::string_view text);
// What the reader should know of what was done: say("note: " + text).
void note(const std::string& text);

// "417 nodes, 520 edges": for headings.
std::string plural(uint64_t count, std::string_view noun);

}  // namespace placeto::cli
