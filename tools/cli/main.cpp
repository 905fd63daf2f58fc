// placeto: places computation graphs on devices, from the command line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <new>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"

namespace placeto::cli {

static constexpr const char* kExamples = R"(Examples:
  placeto generate inception_v3 -o inception.json
  placeto place inception.json --topology 2xk80.json --report report.html
  placeto compare inception.json --topology 2xk80.json 4xk80.json
  placeto simulate inception.json --topology 2xk80.json --placement placement.json
  placeto inspect inception.json

Exit status: 0 done; 1 no feasible placement; 2 bad usage; 3 bad input file; 4 internal error or
an output that cannot be written. On failure nothing is written.)";

static int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  note("error: " + std::string(error.what()) + "\nplaceto " + command +
       "--help lists what there is");
  return kBadUsage;
}

// Mostly a variable of a shell that is not set. What it would do depends on the option: no output
// at all, standard output instead of a file, or the next option taken for its value.
static void refuse_empty(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool option = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (!argument.empty() && !option) continue;
    const std::string where =
        option ? "'" + argument + "'" : "the argument after '" + std::string(argv[i - 1]) + "'";
    throw Failure(kBadUsage, where + " is empty, expected a value");
  }
}

static int run(int argc, char** argv) {
  refuse_empty(argc, argv);
  CLI::App app("Places the nodes of a computation graph on the devices of a machine.", "placeto");
  app.set_version_flag("--version", "placeto " PLACETO_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  add_place(app);
  add_simulate(app);
  add_compare(app);
  add_inspect(app);
  add_convert(app);
  add_generate(app);
  add_import(app);
  add_calibrate(app);
  add_export(app);
  add_run(app);
#ifdef PLACETO_HAVE_SODIUM
  add_keygen(app);
  add_sign(app);
  add_verify(app);
#endif
  add_report(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty() || argc < 2 || argv[1][0] == '-') return refuse(app, error);
    note("error: no command '" + std::string(argv[1]) + "'\nplaceto --help lists the commands");
    return kBadUsage;
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  }
  return kDone;
}

// At once, without unwinding: protobuf frees messages twice that an exception cut off, and libonnx
// goes on without the operators that it had no memory for.
[[noreturn]] static void end_without_memory() {
  constexpr char kMessage[] = "placeto: error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(kInternalError);
}

}  // namespace placeto::cli

int main(int argc, char** argv) {
  using namespace placeto::cli;
  std::set_new_handler(end_without_memory);
  // A reader that went away is a failed write with a message, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file that may not grow
  try {
    return run(argc, argv);
  } catch (const Failure& failure) {
    note("error: " + std::string(failure.what()));
    return failure.status;
  } catch (const std::bad_alloc&) {
    note("error: out of memory");
  } catch (const std::exception& error) {
    note("internal error: " + std::string(error.what()));
  }
  return kInternalError;
}
