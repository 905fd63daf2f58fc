// placeto: places computation graphs on devices, from the command line.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/io/interruption.h"
#include "tools/io/scratch.h"

namespace placeto::cli {

static constexpr const char* kExamples = R"(Examples:
  placeto generate inception_v3 -o inception.json
  placeto place inception.json -t 2xk80 -o placement.json --report report.html
  placeto compare inception.json -t 2xk80 4xk80
  placeto simulate inception.json -t 2xk80 --placement placement.json
  placeto inspect inception.json

Topologies are files or names: `placeto inspect 2xk80` shows a built-in one. A file named - is
standard input or output.

Exit status: 0 done; 1 no feasible placement, or what verify or run --check compares differs; 2 bad
usage; 3 bad input file, or a signature that does not fit; 4 internal error or an output that cannot
be written. On failure nothing is written.)";

static void add_completion(Program& program) {
  Command& command = program.add("completion", "Print a script that completes command lines");
  auto shell = std::make_shared<std::string>();
  command.argument("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  command.footer(R"(Examples:
  placeto completion bash > ~/.local/share/bash-completion/completions/placeto
  placeto completion zsh > ~/.zfunc/_placeto
  placeto completion fish > ~/.config/fish/completions/placeto.fish)");
  command.action([shell, &program] { print(completion_script(program, *shell)); });
}

static void add_commands(Program& program) {
  add_place(program);
  add_simulate(program);
  add_compare(program);
  add_inspect(program);
  add_report(program);
  add_generate(program);
  add_import(program);
  add_export(program);
  add_detect(program);
  add_measure(program);
  add_tune(program);
  add_run(program);
  add_verify(program);
  add_convert(program);
  add_calibrate(program);
#ifdef PLACETO_HAVE_SODIUM
  add_keygen(program);
  add_sign(program);
#endif
  add_completion(program);
}

static void run(const std::vector<std::string>& line) {
  set_output_columns(terminal_columns());
  set_output_color(terminal_has_color());
  Program program("placeto", "Places the nodes of a computation graph on the devices of a machine.",
                  PLACETO_VERSION_TEXT);
  program.footer(kExamples);
  add_commands(program);
  const Result<Request> request = parse(program, line);
  if (!request.ok()) {
    const bool is_command = !line.empty() && program.find(line[0]) != nullptr;
    throw Failure(kBadUsage, request.status().message() + "\n`placeto help" +
                                 (is_command ? " " + line[0] : "") + "` lists what there is");
  }
  switch (request->what) {
    case Request::kRun:
      expect_inputs(request->inputs);
      return request->command->run();
    case Request::kVersion:
      return print(program.name() + " " + program.version() + "\n");
    case Request::kHelp:
      return print(request->command == nullptr
                       ? help_text(program, help_columns())
                       : help_text(program, *request->command, help_columns()));
  }
}

// For people on standard error; for programs that asked for JSON, as an object where they read.
static int fail(ExitStatus status, const char* prefix, const std::string& what, bool json,
                const char* word = nullptr) {
  const std::string message = as_given(what);
  say(prefix + message);
  if (!json || json_was_printed()) return status;
  static constexpr const char* kWords[] = {"done", "infeasible", "bad usage", "bad input",
                                           "internal error"};
  try {
    drop_due();
    print_json({{"error", message},
                {"status", word == nullptr ? kWords[status] : word},
                {"exit_status", int{status}}});
    print_due();
  } catch (const Failure&) {
    // Said already, where it could be said.
  }
  return status;
}

static volatile std::sig_atomic_t wants_json = 0;

// Without allocating, also from a signal's handler.
[[noreturn]] static void end_with(ExitStatus status, std::string_view message,
                                  std::string_view object) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  if (wants_json != 0) written = write(STDOUT_FILENO, object.data(), object.size());
  _exit(status);
}

// At once, without unwinding: protobuf frees messages twice that an exception cut off, and libonnx
// goes on without the operators that it had no memory for.
[[noreturn]] static void end_without_memory() {
  static_assert(kInternalError == 4);
  remove_all_scratch();
  if (json_was_printed()) wants_json = 0;
  end_with(kInternalError, "placeto: error: out of memory\n",
           R"({"error":"out of memory","status":"internal error","exit_status":4})"
           "\n");
}

// Large inputs are mapped, and what is behind the end of a file that became shorter cannot be read.
[[noreturn]] static void end_without_input(int) {
  static_assert(kBadInputFile == 3);
  end_with(
      kBadInputFile, "placeto: error: an input became shorter while it was read\n",
      R"({"error":"an input became shorter while it was read","status":"bad input","exit_status":3})"
      "\n");
}

static int run_and_report(const std::vector<std::string>& line, bool json) {
  try {
    run(line);
    print_due();
    return kDone;
  } catch (const Failure& failure) {
    return fail(failure.status, "error: ", failure.what(), json, failure.word);
  } catch (const std::bad_alloc&) {
    return fail(kInternalError, "error: ", "out of memory", json);
  } catch (const std::exception& error) {
    return fail(kInternalError, "internal error: ", error.what(), json);
  }
}

}  // namespace placeto::cli

int main(int argc, char** argv) {
  using namespace placeto::cli;
  std::set_new_handler(end_without_memory);
  // Writes then fail: of files with a message, and of standard output quietly (see print).
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file that may not grow
  std::signal(SIGBUS, end_without_input);
  const std::vector<std::string> line(argv + std::min(argc, 1), argv + argc);
  const bool json = std::any_of(line.begin(), line.end(), [](const std::string& word) {
    return word == "--json" || word.starts_with("--json=");  // which is refused, in JSON
  });
  expect_json(json);
  wants_json = json ? 1 : 0;
  const int status = run_and_report(line, json);
  // Who presses Ctrl-C has what he asked for; what sends another signal is to see that it was
  // obeyed.
  if (!placeto::Interruption::is_ctrl_c()) placeto::Interruption::obey();
  return status;
}
