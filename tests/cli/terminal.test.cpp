// What is different on a terminal.
#include <pty.h>

#include "tests/cli/runner.h"

using namespace placeto::test;

namespace {

struct Terminal : Workplace {
  std::string graph = write("graph.json", small_graph());

  // Runs placeto with a terminal of 80 columns for everything; what appears on it.
  std::string show(std::vector<std::string> arguments, const char* no_color = nullptr) const {
    arguments.insert(arguments.begin(), PLACETO_CLI);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_col = 80;
    size.ws_row = 24;
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
      unsetenv("NO_COLOR");
      if (no_color != nullptr) setenv("NO_COLOR", no_color, 1);
      execv(PLACETO_CLI, argv.data());
      _exit(127);
    }
    std::string shown;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) {
      shown.append(buffer, static_cast<size_t>(n));
    }
    ::close(terminal);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_MESSAGE(status == 0, shown);
    return shown;
  }
};

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE_FIXTURE(Terminal,
                  "a placing of more than a second shows the best so far and what is left") {
  const std::string net = path("net.graph");
  REQUIRE(run({"generate", "inception_v3", "-o", net}).status == 0);
  const std::string shown = show({"place", net, "-t", "2xk80", "--budget", "1400ms"});
  CHECK_MESSAGE(has(shown, "placing for 1 s, best so far "), shown);
  CHECK_MESSAGE(has(shown, " s left; Ctrl-C takes the best"), shown);
  CHECK(has(shown, "placed by"));
  CHECK(run({"place", net, "-t", "2xk80", "--budget", "10"}).err.empty());  // not in files
}

TEST_CASE_FIXTURE(Terminal, "tables are coloured unless NO_COLOR says otherwise, and fit") {
  const std::vector<std::string> line{"place", graph, "-t", "8xk80"};
  CHECK(has(show(line), "\x1b[1;32m"));
  CHECK(has(show(line, ""), "\x1b[1;32m"));
  const std::string plain = show(line, "1");
  CHECK(!has(plain, "\x1b"));
  for (size_t begin = 0; begin < plain.size();) {
    const size_t end = std::min(plain.find('\n', begin), plain.size());
    CHECK(end - begin <= 81);  // and a carriage return
    begin = end + 1;
  }
}

TEST_CASE_FIXTURE(Terminal, "equal devices share a row, unless one is what was chosen") {
  const Run placed = run({"place", graph, "-t", "8xk80"});
  CHECK_MESSAGE(has(placed.out, "single gpu:0 to gpu:7"), placed.out);
  CHECK(!has(placed.out, "single gpu:1 "));
  const Run serial = run({"place", graph, "-t", "8xk80", "--colocate", "a,b,c,d,e"});
  CHECK_MESSAGE(has(serial.out, "*  single gpu:0 "), serial.out);
  CHECK_MESSAGE(has(serial.out, "single gpu:1 to gpu:7"), serial.out);
}
