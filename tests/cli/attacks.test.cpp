// Files that once crashed the command, took all memory, or got the wrong answer.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;

namespace {

std::string attack(const std::string& name) {
  return std::string(PLACETO_ATTACKS) + "/" + name;
}

struct AttacksScene : Workplace {
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
TEST_CASE_FIXTURE(AttacksScene,
                  "a bandwidth whose reciprocal is infinite is refused by every method") {
  for (const char* method : {"auto", "heft", "etf", "iterate", "anneal", "contiguous", "single"}) {
    ends({"place", attack("rank-nan-graph.json"), "-t", attack("rank-nan-topology.json"),
          "--method", method},
         3, "default_link: bandwidth_bytes_per_us is 5e-324");
    ends({"place", attack("rank-nan-graph.json"), "-t", attack("rank-nan-topology-links.json"),
          "--method", method},
         3, "default_link: bandwidth_bytes_per_us is 1e-309");
  }
}

TEST_CASE_FIXTURE(AttacksScene,
                  "a headroom below what a double resolves leaves all 2^64 - 1 bytes") {
  ends({"place", attack("headroom-graph.json"), "-t", attack("headroom-topology.json"),
        "--memory-headroom", "1e-17"},
       0);
}

// Eight weights of 2,000 bytes together, of which only some halves are 1,000.
TEST_CASE_FIXTURE(AttacksScene, "a placement that leaves no byte of any memory is found") {
  const auto placed = run_json(
      {"place", attack("packing-graph.json"), "-t", attack("packing-topology.json"), "--json"});
  CHECK(placed["peak_memory_bytes"] == std::vector<int>{1000, 1000});
  CHECK(placed["proved"] == true);
}

TEST_CASE_FIXTURE(AttacksScene, "a NUL in a method's name is refused in either form") {
  ends({"convert", attack("placement-nul-in-method.bin"), "out.json"}, 3, "NUL");
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(AttacksScene, "no name takes control characters to a terminal") {
  const std::string red = "\\u001b[31m", bell = "\\u0007\\u009b";
  write("g.json", R"({"format_version": 1, "name": ")" + red + R"(", "nodes": [{"name": ")" + bell +
                      R"(", "op": ")" + red + R"(", "cost_us": [1]}]})");
  write("t.json", R"({"format_version": 1, "name": ")" + bell + R"(", "devices": [{"name": ")" +
                      red + R"(", "kind": ")" + bell + R"("}, {"name": ")" + bell +
                      R"(", "kind": "gpu"}], "default_link": {"bandwidth_bytes_per_us": 1}})");
  const std::vector<std::vector<std::string>> commands = {
      {"place", "g.json", "-t", "t.json", "--explain", "all", "-o", "p.json"},
      {"simulate", "g.json", "-t", "t.json", "-p", "p.json"},
      {"compare", "g.json", "-t", "t.json"},
      {"inspect", "g.json"},
      {"inspect", "t.json"},
      {"inspect", "p.json"}};
  for (const auto& command : commands) {
    INFO(command[0]);
    const Run result = run(command);
    CHECK_MESSAGE(result.status == 0, result.err);
    for (const std::string control : {"\x1b", "\x07", "\xc2\x9b"}) {
      CHECK(result.out.find(control) == std::string::npos);
      CHECK(result.err.find(control) == std::string::npos);
    }
  }
}

TEST_CASE_FIXTURE(AttacksScene, "nor does JSON, which has escapes for what it may hold as it is") {
  const std::string harmful = "\xc2\x9b\x7f\xe2\x80\xae\xe2\x81\xa6", kept = "\xc2\xa0\xe2\x80\xa6";
  const std::string graph =
      write("g.json", R"({"format_version": 1, "name": ")" + harmful + kept +
                          R"(", "nodes": [{"name": ")" + harmful + R"(", "cost_us": [1]}]})");
  REQUIRE(run({"place", graph, "-t", "2xk80", "-o", "p.json"}).status == 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", graph, "--json"},
        {"place", graph, "-t", "2xk80", "--json"},
        {"convert", graph, "-"},
        {"export", "p.json", "-g", graph, "-f", "json", "-o", "-"}}) {
    const Run printed = run(command);
    INFO(command[0], printed.err);
    CHECK(printed.status == 0);
    const auto object = nlohmann::json::parse(printed.out, nullptr, false);
    REQUIRE(object.is_object());
    for (const std::string control : {"\xc2\x9b", "\x7f", "\xe2\x80\xae", "\xe2\x81\xa6"}) {
      CHECK(printed.out.find(control) == std::string::npos);
    }
    CHECK(printed.out.find(R"(\u009b\u007f\u202e\u2066)") != std::string::npos);
    if (command[0] == "inspect" || command[0] == "convert") {
      CHECK(object.at("name") == harmful + kept);
    }
  }
}

// A tree of JSON takes up to 80 bytes for one of the text.
TEST_CASE_FIXTURE(AttacksScene, "JSON that is mostly brackets is refused in little memory") {
  limit_memory(uint64_t{1} << 30);
  const std::string deep(40'000'000, '[');
  for (const std::string& text : {deep, std::string("{\"stages\": [") + deep}) {
    write("manifest.json", text);
    ends({"verify", "manifest.json", "manifest.json"}, 3, "manifest.json");
    ends({"verify", write("names.json", text), "names.json"}, 3, "names.json");
  }
  std::string commas = "{\"nodes\": [0";
  for (int i = 0; i < 20'000'000; ++i) commas += ",0";
  ends({"verify", write("names.json", commas + "]}"), "names.json"}, 3, "names.json");
  const std::string graph = write("graph.json", small_graph());
  ends(
      {"place", graph, "-t", "2xk80", "--engine", write("engine.json", deep.substr(0, 16'000'000))},
      3, "engine.json");
  ends({"place", graph, "-t", "2xk80", "--engine",
        write("engine.json", R"({"format_version": "1", "name": "x"})")},
       3, "format_version");
}

// Looking through a list, or through the names of an object, after each entry would take hours.
TEST_CASE_FIXTURE(AttacksScene,
                  "JSON of short entries is read or refused in the time of its size") {
  limit_time(20);
  const std::string graph = write("graph.json", small_graph());
  std::string list = "[{}", names = "{\"k0\": \"gpu:0\"";
  for (int i = 1; i < 300'000; ++i) {
    list += ",{}";
    names += ",\"k" + std::to_string(i) + "\": \"gpu:0\"";
  }
  list += "]", names += "}";
  write("record.json", "[]");
  for (const std::string& entries : {list, names}) {
    const std::string engine =
        R"({"format_version": 1, "name": "x", "operators": {"": )" + entries + "}}";
    ends({"place", graph, "-t", "2xk80", "--engine", write("engine.json", engine)}, 3, "operators");
    write("manifest.json", R"({"format_version": 1, "model": )" + entries + "}");
    ends({"verify", "manifest.json", "record.json"}, 3, "model");
    const std::string profile =
        R"([{"cat": "Node", "name": "a_kernel_time", "dur": "", "args": )" + entries + "}]";
    write("names.json", R"({"nodes": {"a": "gpu:0"}})");
    ends({"verify", "names.json", write("profile.json", profile)}, 3, "profile.json");
  }
  write("names.json", R"({"nodes": )" + names + "}");
  ends({"verify", "names.json", "record.json"}, 3, "record.json");
}

TEST_CASE_FIXTURE(AttacksScene, "a field that is given twice, of whatever types, is refused") {
  const std::string graph = write("graph.json", small_graph());
  write("names.json", R"({"nodes": {"a": "gpu:0"}})");
  for (const std::string twice :
       {R"("a": 1, "a": [1])", R"("a": [1], "a": {"b": 2})", R"("a": {}, "a": {})"}) {
    const std::string said = "gives 'a' twice";
    ends({"verify", write("manifest.json", R"({"format_version": 1, )" + twice + "}"),
          "record.json"},
         3, "manifest.json: " + said);
    const std::string profile =
        R"([{"cat": "Node", "name": "a_kernel_time", "dur": 1, "args": {)" + twice + "}}]";
    ends({"verify", "names.json", write("profile.json", profile)}, 3,
         "profile.json: event 0: " + said);
    ends({"verify", write("twice.json", R"({"nodes": {)" + twice + "}}"), "profile.json"}, 3,
         "twice.json: " + said);
    const std::string engine =
        R"({"format_version": 1, "name": "x", "operators": {)" + twice + "}}";
    ends({"place", graph, "-t", "2xk80", "--engine", write("engine.json", engine)}, 3,
         "engine.json: " + said);
  }
}

TEST_CASE_FIXTURE(AttacksScene, "a manifest whose inputs have long names and many axes is small") {
  limit_memory(1'000 << 20);
  std::string axes = "null";
  for (int i = 1; i < 100'000; ++i) axes += ",null";
  const std::string input =
      R"({"name": ")" + std::string(20'000, 'x') + R"(", "shape": [)" + axes + "]}";
  ends({"verify",
        write("manifest.json", R"({"format_version": 1, "model": "m", "graph": "g",
                                   "topology": "t", "devices": ["d"], "inputs": [)" +
                                   input + R"(], "outputs": [], "stages": [{"file": "s.onnx",
                                   "device": "d", "inputs": [], "outputs": [], "after": []}],
                                   "order": [0]})"),
        "record.json"},
       3, "s.onnx");
}

TEST_CASE_FIXTURE(AttacksScene,
                  "a manifest of many free dimensions is read in the time of its size") {
  limit_time(10);
  std::string inputs, dims = R"("*": 1)";
  for (int i = 0; i < 100'000; ++i) {
    const std::string number = std::to_string(i);
    inputs += (i == 0 ? "" : ",") + (R"({"name": "i)" + number) + R"(", "shape": ["s)" + number +
              R"("]})";
    if (i % 2 == 0) dims += ",\"i" + number + "[0]\": 2";
  }
  write("manifest.json", R"({"format_version": 1, "model": "m", "graph": "g", "topology": "t",
                             "devices": ["cpu:0"], "inputs": [)" +
                             inputs + R"(], "outputs": [{"name": "y", "stage": 0}],
                             "stages": [{"file": "s.onnx", "device": "cpu:0", "inputs": [],
                             "outputs": [{"name": "y"}], "after": []}], "order": [0], "dims": {)" +
                             dims + "}}");
  for (const char* dim : {"s1=3", "i2[0]=3", "*=3"}) {
    const Run result = run({"run", "manifest.json", "--dim", dim});
    INFO(result.err);
    CHECK((result.status == 3 || result.err.find("built without") != std::string::npos));
  }
}

TEST_CASE_FIXTURE(AttacksScene, "a topology whose links are all unlike is shown in little time") {
  limit_time(20);
  constexpr int kDevices = 400;
  const auto name = [](int d) { return "\"d" + std::to_string(d) + "\""; };
  std::string devices, links;
  for (int a = 0; a < kDevices; ++a) {
    devices += (a == 0 ? "" : ",") + ("{\"kind\": \"gpu\", \"name\": " + name(a) + "}");
    for (int b = 0; b < kDevices; ++b) {
      if (a == b) continue;
      links += (links.empty() ? "" : ",") + ("{\"from\": " + name(a) + ", \"to\": " + name(b)) +
               ", \"bandwidth_bytes_per_us\": " + std::to_string(kDevices * a + b + 1) + "}";
    }
  }
  write("t.json",
        "{\"format_version\": 1, \"devices\": [" + devices + "], \"links\": [" + links + "]}");
  const Run result = run({"inspect", "t.json"});
  CHECK_MESSAGE(result.status == 0, result.err);
  CHECK(result.out.find("160000 MB/s") == std::string::npos);
  CHECK(result.out.find("159999 MB/s") != std::string::npos);
}

#ifdef PLACETO_HAVE_ONNX
TEST_CASE_FIXTURE(AttacksScene,
                  "models that crash libonnx or make it fill memory import with a note") {
  ends({"import", attack("lstm6-rank1.onnx"), "-o", "graph.json"}, 0);
  ends({"import", attack("import-oom.onnx"), "--dim", "*=3", "-o", "graph.json"}, 0,
       "asks for 2147483648 axes");
}
#endif
