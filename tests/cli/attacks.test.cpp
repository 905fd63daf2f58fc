// Files that once crashed the command, took all memory, or got the wrong answer.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;

namespace {

std::string attack(const std::string& name) {
  return std::string(PLACETO_ATTACKS) + "/" + name;
}

struct Fixture : Workplace {
  // The command ends with that status and, but for 0, one message that holds `text`.
  void ends(const std::vector<std::string>& arguments, int status, const std::string& text = "") {
    std::string command;
    for (const std::string& argument : arguments) command += argument + " ";
    INFO(command);
    const Run result = run(arguments);
    CHECK_MESSAGE(result.status == status, result.err);
    CHECK_MESSAGE(result.err.find(text) != std::string::npos, result.err);
    if (status != 0) CHECK(result.err.rfind("placeto: ", 0) == 0);
  }
};

}  // namespace

// 1 / 5e-324 is infinity, times 0 bytes no number: ranks put a node before its predecessor.
TEST_CASE_FIXTURE(Fixture, "a bandwidth whose reciprocal is infinite is refused by every method") {
  for (const char* method : {"auto", "heft", "etf", "iterate", "anneal", "contiguous", "single"}) {
    ends({"place", attack("rank-nan-graph.json"), "-t", attack("rank-nan-topology.json"),
          "--method", method},
         3, "default_link: bandwidth_bytes_per_us is 5e-324");
    ends({"place", attack("rank-nan-graph.json"), "-t", attack("rank-nan-topology-links.json"),
          "--method", method},
         3, "default_link: bandwidth_bytes_per_us is 1e-309");
  }
}

TEST_CASE_FIXTURE(Fixture, "a headroom below what a double resolves leaves all 2^64 - 1 bytes") {
  ends({"place", attack("headroom-graph.json"), "-t", attack("headroom-topology.json"),
        "--memory-headroom", "1e-17"},
       0);
}

TEST_CASE_FIXTURE(Fixture, "a NUL in a method's name is refused in either form") {
  ends({"convert", attack("placement-nul-in-method.bin"), "out.json"}, 3, "NUL");
  CHECK(files().empty());
}

#ifdef PLACETO_HAVE_ONNX
TEST_CASE_FIXTURE(Fixture, "models that crash libonnx or make it fill memory import with a note") {
  ends({"import", attack("lstm6-rank1.onnx"), "-o", "graph.json"}, 0);
  ends({"import", attack("import-oom.onnx"), "--dim", "*=3", "-o", "graph.json"}, 0,
       "asks for 2147483648 axes");
}
#endif
