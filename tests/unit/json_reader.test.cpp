// What JSON is accepted, and what the messages say about the rest.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/format_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

using test::contains;
using test::message_of;

// A file with the given content, removed at the end.
class Input {
 public:
  explicit Input(std::string_view content) {
    std::string name = (std::filesystem::temp_directory_path() / "placeto-json-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    REQUIRE(fd >= 0);
    ::close(fd);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~Input() { std::remove(path_.c_str()); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The message without the path it must start with.
std::string without_path(const std::string& message, const std::string& path) {
  if (message == "ok") return message;
  REQUIRE_MESSAGE(message.starts_with(path + ": "), message);
  return message.substr(path.size() + 2);
}

std::string graph_error(std::string_view json) {
  const Input input(json);
  return without_path(message_of(read_graph(input.path())), input.path());
}
std::string topology_error(std::string_view json) {
  const Input input(json);
  return without_path(message_of(read_topology(input.path())), input.path());
}
std::string any_error(std::string_view json) {
  const Input input(json);
  return without_path(message_of(read_any(input.path())), input.path());
}

// A graph of one node with the given fields.
std::string node(const std::string& fields) {
  return "{\"format_version\": 1,\n \"nodes\": [{" + fields + "}]}";
}
std::string node_error(const std::string& fields) {
  return graph_error(node(fields));
}

NodeSpec read_node(const std::string& fields) {
  const Input input(node(fields));
  const auto spec = read_graph_spec(input.path());
  REQUIRE_MESSAGE(spec.ok(), spec.status().message());
  return spec->nodes.at(0);
}

}  // namespace

TEST_CASE("an unknown field is refused by name, line, column and path") {
  CHECK(graph_error(
            "{\n  \"format_version\": 1,\n  \"nodes\": [\n    {},\n    {\"cost\": 1}\n  ]\n}") ==
        "line 5, column 6: nodes[1]: unknown field 'cost', expected one of name, op, cost_us, "
        "outputs, resident_bytes, workspace_bytes, flops, bytes_accessed, colocate, allowed_kinds, "
        "launches, measured, opset, input_types, domain, fused");
  CHECK(contains(graph_error("{\"nodes\": [{}], \"Name\": 1}"),
                 "line 1, column 17: unknown field 'Name', expected one of format_version, name,"));
}

TEST_CASE("a field given twice is refused, even if its value is empty") {
  CHECK(node_error("\"flops\": 1,\n \"flops\": 1") ==
        "line 3, column 2: nodes[0]: field 'flops' is given twice, expected it once");
  CHECK(contains(node_error("\"op\": \"\", \"op\": \"\""), "field 'op' is given twice"));
  CHECK(contains(node_error("\"outputs\": [], \"outputs\": [1]"), "'outputs' is given twice"));
}

TEST_CASE("an absent version, or another one, is refused") {
  CHECK(graph_error("{\"nodes\": [{}]}") == "format_version is absent or 0, expected 1");
  CHECK(graph_error("{\"format_version\": 3, \"nodes\": [{}]}") ==
        "format_version is 3, expected 1: a newer version of Placeto may read this file");
}

TEST_CASE("values of another type are refused, and nothing is converted") {
  const std::string at = "line 2, column ";
  CHECK(node_error("\"flops\": \"7\"") ==
        at + "22: nodes[0].flops: found '\"7\"', expected a whole number from 0 to "
             "18446744073709551615");
  CHECK(node_error("\"flops\": true") ==
        at + "22: nodes[0].flops: found 'true', expected a whole number from 0 to "
             "18446744073709551615");
  CHECK(contains(node_error("\"flops\": null"), "found 'null', expected a whole number"));
  CHECK(contains(node_error("\"flops\": [1]"), "found '[', expected a whole number"));
  CHECK(contains(node_error("\"flops\": rad(180)"), "found 'rad', expected a whole number"));
  CHECK(contains(node_error("\"name\": 7"), "nodes[0].name: found '7', expected text in double"));
  CHECK(contains(node_error("\"name\": null"), "found 'null', expected text in double quotes"));
  CHECK(contains(node_error("\"outputs\": 7"), "nodes[0].outputs: found '7', expected a list"));
  CHECK(contains(node_error("\"outputs\": {}"), "nodes[0].outputs: found '{', expected a list"));
  CHECK(contains(node_error("\"cost_us\": [1, \"2\"]"),
                 "nodes[0].cost_us[1]: found '\"2\"', expected a number"));
  CHECK(contains(graph_error("{\"nodes\": [7]}"),
                 "nodes[0]: found '7', expected an object with name, op, cost_us"));
  CHECK(contains(graph_error("{\"nodes\": {}}"), "nodes: found '{', expected a list"));
}

TEST_CASE("whole numbers must be whole, not negative and in range") {
  const std::string range = ", expected a whole number from 0 to 18446744073709551615";
  CHECK(contains(node_error("\"flops\": -1"), "nodes[0].flops: is -1" + range));
  CHECK(contains(node_error("\"flops\": 1.0"), "is 1.0" + range));
  CHECK(contains(node_error("\"flops\": 1e3"), "is 1e3" + range));
  CHECK(contains(node_error("\"flops\": 18446744073709551616"), "is 18446744073709551616" + range));
  CHECK(read_node("\"flops\": 18446744073709551615").flops == 18446744073709551615u);
  CHECK(read_node("\"flops\": -0").flops == 0);
  CHECK(contains(graph_error("{\"format_version\": 1, \"edges\": [{\"source\": 4294967296}]}"),
                 "edges[0].source: is 4294967296, expected a whole number from 0 to 4294967295"));
  CHECK(contains(node_error("\"flops\": 1" + std::string(100'000, '0')), range));
}

TEST_CASE("numbers must follow JSON and fit a double") {
  for (const char* wrong : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "+1", ".5", "1.",
                            "01", "-", "1e", "0x10", "1_000", "--1", "-01"}) {
    CAPTURE(wrong);
    const std::string message = node_error(std::string("\"cost_us\": [") + wrong + "]");
    CHECK(contains(message, "line 2, column 25: nodes[0].cost_us") ==
          !contains(message, "column 26"));
    CHECK(contains(message, "expected "));
  }
  CHECK(contains(node_error("\"cost_us\": [NaN]"), "found 'NaN', expected a number"));
  for (const char* wrong : {"1e999", "-1e999", "1e-999", "1e99999999999999999999"}) {
    CHECK(contains(node_error(std::string("\"cost_us\": [") + wrong + "]"),
                   std::string("is ") + wrong + ", expected a number in the range of a 64-bit"));
  }
  CHECK(read_node("\"cost_us\": [5e-324]").cost_us == std::vector{5e-324});
  CHECK(read_node("\"cost_us\": [1.7976931348623157e308]").cost_us ==
        std::vector{1.7976931348623157e308});
  CHECK(read_node("\"cost_us\": [0.1E+2]").cost_us == std::vector{10.0});
  CHECK(read_node("\"cost_us\": [0e999]").cost_us == std::vector{0.0});
}

TEST_CASE("text may use every escape of JSON and any character but NUL") {
  CHECK(read_node(R"("name": "\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00é€")").name ==
        "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac");
  const std::string at = "line 2, column 22: nodes[0].name: ";
  CHECK(node_error(R"("name": "\u0000")") == at + "\\u0000, expected text without NUL characters");
  CHECK(contains(node_error(R"("name": "\x")"), "unknown escape, expected one of"));
  CHECK(contains(node_error(R"("name": "\u12g4")"), "unknown escape, expected one of"));
  CHECK(contains(node_error(R"("name": "\ud83d")"), "first half of a surrogate pair"));
  CHECK(contains(node_error(R"("name": "\ud83d\u0041")"), "first half of a surrogate pair"));
  CHECK(contains(node_error(R"("name": "\ude00")"), "second half of a surrogate pair"));
  CHECK(node_error("\"name\": \"\xff\"") == at + "byte that is not UTF-8, expected text in UTF-8");
  CHECK(contains(node_error("\"name\": \"\xc0\x80\""), "byte that is not UTF-8"));
  CHECK(contains(node_error("\"name\": \"a\nb\""), "found '\\x0a' in a string, expected control"));
  CHECK(contains(node_error(std::string("\"name\": \"a\0b\"", 13)), "found '\\x00' in a string"));
  CHECK(contains(node_error("\"name\": \"open"), "expected '\"' to end a string"));
  CHECK(contains(node_error("\"name\": 'single'"), "expected text in double quotes"));
}

TEST_CASE("names of fields follow the same rules as text") {
  CHECK(read_node(R"("n\u0061me": "x")").name == "x");
  CHECK(contains(graph_error("{name: 1}"), "found 'name', expected a field name in double quotes"));
  CHECK(contains(node_error("\"name\" \"x\""), "nodes[0].name: found '\"x\"', expected ':'"));
}

TEST_CASE("what is not strict JSON is refused: comments, stray and missing commas") {
  CHECK(contains(graph_error("{\"format_version\": 1, // one\n \"nodes\": [{}]}"),
                 "found '/', expected a field name in double quotes"));
  CHECK(contains(graph_error("{\"nodes\": [{}], }"), "found '}', expected a field name"));
  CHECK(contains(graph_error("{\"nodes\": [{},]}"), "nodes[1]: found ']', expected an object"));
  CHECK(contains(graph_error("{\"nodes\": [{} {}]}"), "found '{', expected ',' or ']'"));
  CHECK(contains(graph_error("{\"format_version\": 1 \"nodes\": []}"),
                 "found '\"nodes\"', expected ',' or '}'"));
  CHECK(contains(graph_error("{\"nodes\": [{}]} {}"),
                 "found '{', expected the end of the text after the object"));
  CHECK(contains(graph_error(std::string("{\"nodes\": [{}]}\0", 16)),
                 "found '\\x00', expected the end of the text"));
}

TEST_CASE("a text that ends early is refused wherever it ends") {
  const std::string whole =
      "{\"format_version\": 1, \"nodes\": [{\"cost_us\": [1.5]}], "
      "\"edges\": [{\"source\": 1}]}";
  for (size_t size = 1; size < whole.size(); ++size) {
    const std::string message = graph_error(whole.substr(0, size));
    CHECK_MESSAGE(contains(message, "line 1, column "), message);
    CHECK_MESSAGE(contains(message, "expected "), message);
  }
}

TEST_CASE("nesting is bounded by the schema, so deep nesting is refused at once") {
  for (const char* bomb : {"[", "{\"a\":", "[{\"nodes\":"}) {
    std::string deep = "{\"nodes\": ";
    for (int i = 0; i < 1'000'000; ++i) deep += bomb;
    CHECK(contains(graph_error(deep), "nodes"));
    CHECK(contains(any_error(deep), "nodes"));
  }
  // Unknown fields are skipped to find out what a file is: that must not recurse either.
  std::string deep = "{\"x\": ";
  for (int i = 0; i < 1'000'000; ++i) deep += "[{\"a\": ";
  CHECK(contains(any_error(deep), "its fields do not tell what it is"));
}

TEST_CASE("a list that is too long is refused where it gets too long, not once it is read") {
  const auto list = [](const char* before, const char* entry, int count) {
    std::string text = std::string("{\"format_version\": 1, ") + before + "[";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::string(entry);
    return text;  // and no end: what comes after is not looked at
  };
  const std::string devices = "\"devices\": [\"a\"], ";
  CHECK(contains(any_error(list((devices + "\"candidates\": ").c_str(), "{}", 5000)),
                 "candidates[4096]: more than 4096 entries"));
  CHECK(contains(any_error(list((devices + "\"peak_memory_bytes\": ").c_str(), "0", 2000)),
                 "peak_memory_bytes[1024]: more than 1024 entries"));
  CHECK(contains(any_error(list("\"architecture\": \"pairwise\", \"provenance\": {\"workloads\": ",
                                "\"\"", 5000)),
                 "workloads[4096]: more than 4096 entries"));
  CHECK(contains(node_error("\"cost_us\": " + list("", "1", 100).substr(22)),
                 "cost_us[64]: more than 64 entries"));
  CHECK(contains(node_error("\"input_types\": " + list("", "\"\"", 5000).substr(22)),
                 "input_types[4096]: more than 4096 entries"));
}

TEST_CASE("a text that is too long is refused where it gets too long, not once it is read") {
  const std::string long_text(size_t{1} << 20, 'x');
  const std::string begin = R"({"format_version": 1, "nodes": [], "name": ")" + long_text;
  CHECK(!contains(graph_error(begin + "\"}"), "string is longer"));
  for (const char* more : {"x", "\xc3\xa4", "\\u00e4"}) {  // and no end
    CHECK(contains(graph_error(begin + more + more), "string is longer than 1.00 MiB"));
  }
}

TEST_CASE("short lists that are too much together are refused where they get too many") {
  const auto nodes_with = [](const std::string& list, size_t count) {
    std::string text = "{\"format_version\": 1, \"nodes\": [";
    for (size_t i = 0; i < count; ++i) text += (i == 0 ? "{" : ", {") + list + "}";
    return text + "]}";
  };
  const auto error = [](const std::string& text, const Limits& limits) {
    return message_of(parse_graph({text.begin(), text.end()}, "graph.json", limits));
  };
  Limits limits;
  limits.max_nodes = 10, limits.max_kinds = 16, limits.max_outputs = 20;
  const std::string sixteen = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";  // 16 + 8 * 10 fit: six lists
  CHECK(
      contains(error(nodes_with("\"cost_us\": [" + sixteen + "]", 7), limits),
               "line 1, column 334: nodes[6].cost_us[0]: more than 96 entries in all lists of this "
               "name, expected at most that many"));
  for (const std::string field : {"allowed_kinds", "input_types"}) {
    const std::string ten = R"(": ["", "", "", "", "", "", "", "", "", ""])";
    CHECK(contains(error(nodes_with("\"" + field + ten, 10), limits),
                   "nodes[9]." + field + "[6]: more than 96 entries in all lists"));
  }
  CHECK(contains(error(nodes_with("\"outputs\": [1, 2, 3]", 7), limits),
                 "nodes[6].outputs[2]: more than 20 entries in all lists"));
  CHECK(error(nodes_with("\"outputs\": [1, 2, 3]", 6), limits) == "ok");
}

TEST_CASE("a byte order mark and any white space around are accepted") {
  CHECK(graph_error("\xef\xbb\xbf \t\r\n{\"format_version\" : 1 , \"nodes\" : [ { } ] } \n") ==
        "ok");
}

TEST_CASE("enumerations take their names or numbers") {
  const auto topology = [](const std::string& rules) {
    return "{\"format_version\": 1, " + rules +
           ", \"devices\": [{\"name\": \"a\", \"kind\": \"cpu\"}]}";
  };
  CHECK(topology_error(topology("\"dispatch\": \"priority\", \"transfer\": 1")) == "ok");
  CHECK(contains(topology_error(topology("\"dispatch\": \"lifo\"")),
                 "column 35: dispatch: is 'lifo', expected one of fifo, priority"));
  CHECK(contains(topology_error(topology("\"dispatch\": 2")),
                 "dispatch is 2, expected 0 (fifo) or 1 (priority)"));
  CHECK(contains(topology_error(topology("\"dispatch\": \"fifo priority\"")), "expected one of"));
  CHECK(contains(topology_error(topology("\"dispatch\": 256")), "a whole number from 0 to 255"));
}

TEST_CASE("what a JSON file describes is checked like a binary one, under its path") {
  CHECK(graph_error("{\"format_version\": 1, \"nodes\": [{}], \"edges\": [{\"target\": 5}]}") ==
        "edges[0]: target is 5, expected a node index below 1");
  CHECK(topology_error("{\"format_version\": 1, \"devices\": [{\"name\": \"a\"}]}") ==
        "devices[0] 'a': kind: is empty, expected a name");
  const Input placement("{\"format_version\": 1, \"devices\": [\"a\"], \"assignment\": [1]}");
  CHECK(message_of(read_placement(placement.path())) ==
        placement.path() +
            ": assignment[0] is 1, expected an index into the 1 devices of this "
            "file");
}

TEST_CASE("an absent slowdown is 1 and a slowdown of 0 is not taken for absent") {
  const Input input("{\"format_version\": 1, \"devices\": [{\"name\": \"a\", \"kind\": \"b\"}]}");
  CHECK(read_topology(input.path())->device(0).slowdown == 1);
  CHECK(contains(topology_error("{\"format_version\": 1, \"devices\": [{\"name\": \"a\", "
                                "\"kind\": \"b\", \"slowdown\": 0}]}"),
                 "slowdown is 0, expected a finite number above 0"));
}

TEST_CASE("the kind of a JSON file is told by its fields") {
  const auto kind = [](std::string_view json) {
    const Input input(json);
    const auto spec = read_any(input.path());
    return spec.ok() ? std::string(name_of(kind_of(*spec))) : spec.status().message();
  };
  CHECK(kind("{\"name\": \"x\", \"format_version\": 1, \"nodes\": [{}]}") == "graph");
  CHECK(kind("{\"format_version\": 1, \"devices\": [{\"name\": \"a\", \"kind\": \"b\"}]}") ==
        "topology");
  CHECK(kind("{\"format_version\": 1, \"devices\": [\"a\"], \"assignment\": [0]}") == "placement");
  CHECK(contains(kind("{\"format_version\": 1, \"name\": \"x\"}"),
                 "its fields do not tell what it is, expected \"nodes\" (a graph)"));
  CHECK(contains(kind("{}"), "its fields do not tell what it is"));
  CHECK(contains(kind("[1, 2]"), "is neither a binary file of Placeto nor a JSON object"));
  CHECK(contains(kind(""), "is empty, expected"));
  CHECK(contains(kind("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
                 "stands for a file that Git LFS has not fetched, expected"));
  CHECK(contains(kind("\x08\x07\x12\x05torch"), "is a protobuf message, as ONNX models are"));
  CHECK(contains(kind("# a comment"), "is neither a binary file of Placeto nor a JSON object"));
}

TEST_CASE("a JSON file of another kind is named, and so is what was expected") {
  CHECK(graph_error("{\"devices\": [{\"name\": \"a\"}]}") ==
        "is a topology in JSON, expected a graph");
  CHECK(topology_error("{\"nodes\": []}") == "is a graph in JSON, expected a topology");
  CHECK(topology_error("{\"assignment\": []}") == "is a placement in JSON, expected a topology");
  CHECK(graph_error("no JSON at all") ==
        "is neither a binary file of Placeto nor a JSON object, expected a graph");
}

}  // namespace placeto
