// What is different on a terminal.
#include <pty.h>

#include "tests/cli/runner.h"

using namespace placeto::test;

namespace {

struct Terminal : Workplace {
  std::string graph = write("graph.json", small_graph());

  // Runs placeto with a terminal of so many columns for everything; what appears on it.
  std::string show(std::vector<std::string> arguments, const char* no_color = nullptr,
                   int columns = 80) const {
    arguments.insert(arguments.begin(), PLACETO_CLI);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
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

// The first line that is wider, without its carriage return; "" if there is none.
std::string too_wide(const std::string& shown, size_t columns) {
  for (size_t begin = 0; begin < shown.size();) {
    const size_t end = std::min(shown.find('\n', begin), shown.size());
    std::string line = shown.substr(begin, end - begin);
    while (line.ends_with('\r')) line.pop_back();
    const std::string progress_ends = "\r\x1b[K";  // what was shown before is gone
    const size_t progress = line.rfind(progress_ends);
    if (progress != std::string::npos) line.erase(0, progress + progress_ends.size());
    const auto starts_character = [](char c) { return (c & 0xc0) != 0x80; };
    const auto width = std::count_if(line.begin(), line.end(), starts_character);
    if (static_cast<size_t>(width) > columns) return line;
    begin = end + 1;
  }
  return "";
}

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

TEST_CASE_FIXTURE(Terminal,
                  "what is told while one waits is cut to the terminal and taken off again") {
  const std::string net = path("net.graph"), take_off = "\r\x1b[K";
  REQUIRE(run({"generate", "inception_v3", "-o", net}).status == 0);
  const std::string shown = show({"place", net, "-t", "2xk80", "--budget", "1400ms"}, nullptr, 40);
  const size_t heading = shown.find("inception_v3 (");
  REQUIRE_MESSAGE(heading != std::string::npos, shown);
  CHECK(shown.substr(0, heading).ends_with(take_off));
  CHECK(shown.find(take_off, heading) == std::string::npos);
  const size_t told = shown.find("placing for ");
  REQUIRE(told != std::string::npos);
  CHECK(shown.find(take_off, told) - told == 39);

  const std::string placement = path("p.json");
  REQUIRE(run({"place", net, "-t", "2xk80", "-o", placement}).status == 0);
  const std::string reported =
      show({"report", placement, "-g", net, "-t", "2xk80", "-o", path("r.html")});
  CHECK_MESSAGE(has(reported, "simulating and asking for reasons ..."), reported);
}

TEST_CASE_FIXTURE(Terminal, "tables are coloured unless NO_COLOR says otherwise, and fit") {
  const std::vector<std::string> line{"place", graph, "-t", "8xk80"};
  CHECK(has(show(line), "\x1b[1;32m"));
  CHECK(has(show(line, ""), "\x1b[1;32m"));
  const std::string plain = show(line, "1");
  CHECK(!has(plain, "\x1b"));
  CHECK(too_wide(plain, 80).empty());
}

TEST_CASE_FIXTURE(Terminal, "whatever is shown is as wide as the terminal at most") {
  const std::string net = path("net.graph"), placement = path("p.json");
  std::string long_names = small_graph();
  for (const char* name : {"\"name\": \"b\"", "\"name\": \"c\""}) {
    const std::string longer = std::string(name).insert(9, std::string(60, 'x'));
    long_names.replace(long_names.find(name), std::string(name).size(), longer);
  }
  const std::string named = write("named.json", long_names);
  REQUIRE(run({"generate", "inception_v3", "-o", net}).status == 0);
  REQUIRE(run({"place", net, "-t", "8xk80", "-o", placement}).status == 0);
  const std::vector<std::vector<std::string>> lines{
      {"inspect", "8xk80"},
      {"inspect", "2x4-gpu-two-hosts"},
      {"inspect", net},
      {"inspect", placement},
      {"generate", "--list"},
      {"simulate", net, "-t", "8xk80", "-p", placement},
      {"detect", "-o", path("host.json")},
      {"place", net, "-t", "8xk80"},
      {"place", named, "-t", "2xk80", "--explain", "all"},
      {"compare", net, "-t", "2xk80", "8xk80", "--methods", "single,heft"},
      {"help"},
      {"help", "place"},
      {"help", "compare"},
      {"help", "calibrate"}};
  for (const std::vector<std::string>& line : lines) {
    for (const int columns : {60, 80}) {
      const std::string wide = too_wide(show(line, "1", columns), static_cast<size_t>(columns));
      CHECK_MESSAGE(wide.empty(), line[0] << " at " << columns << ": " << wide);
    }
  }
  // Files get everything.
  CHECK(has(run({"place", named, "-t", "2xk80", "--explain", "all"}).out, " second best "));
  CHECK(has(run({"inspect", net}).out, "Concat 15, AvgPool 9, MaxPool 4, GlobalAvgPool 1"));
}

TEST_CASE_FIXTURE(Terminal, "equal devices share a row, unless one is what was chosen") {
  const Run placed = run({"place", graph, "-t", "8xk80"});
  CHECK_MESSAGE(has(placed.out, "single gpu:0 to gpu:7"), placed.out);
  CHECK(!has(placed.out, "single gpu:1 "));
  const std::string shown = show({"place", graph, "-t", "8xk80"}, "1");
  CHECK_MESSAGE(has(shown, "  fullest of gpu:0 to gpu:7  "), shown);
  const Run serial = run({"place", graph, "-t", "8xk80", "--colocate", "a,b,c,d,e"});
  CHECK_MESSAGE(has(serial.out, "*  single gpu:0 "), serial.out);
  CHECK_MESSAGE(has(serial.out, "single gpu:1 to gpu:7"), serial.out);
}
