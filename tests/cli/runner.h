// Runs the built `placeto` in a directory of its own.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace placeto::test {

struct Run {
  int status = -1;  // exit status; -1: killed by a signal
  std::string out, err;
};

// A fresh directory that goes away with everything in it.
class Workplace {
 public:
  Workplace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "placeto-cli-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  Workplace(const Workplace&) = delete;
  ~Workplace() { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  bool exists(const std::string& name) const { return std::filesystem::exists(root_ / name); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string read(const std::string& name) const { return read_path(path(name)); }

  // Names of the files here, captured output aside.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) {
      const std::string name = entry.path().filename().string();
      if (name != kOut && name != kErr) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // From now on the command may have so many bytes of address space; sanitizers need terabytes.
  void limit_memory(uint64_t bytes) { memory_ = bytes; }

  // From now on no file that the command writes may have more bytes: as on a full disk.
  void limit_files(uint64_t bytes) { file_ = bytes; }

  // From now on the command is killed after so many seconds of processor time.
  void limit_time(uint64_t seconds) { seconds_ = seconds; }

  // Runs placeto with these arguments here. `out`: where standard output goes instead of Run::out.
  Run run(std::vector<std::string> arguments, const std::string& out = "") const {
    const std::string out_path = out.empty() ? path(kOut) : out, err_path = path(kErr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) execute(std::move(arguments), out_path, err_path);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    Run result;
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    if (out.empty()) result.out = read_path(out_path);
    result.err = read_path(err_path);
    return result;
  }

  // The same, expected to succeed and to print one JSON object.
  nlohmann::json run_json(const std::vector<std::string>& arguments) const {
    const Run result = run(arguments);
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK(result.err == "");
    nlohmann::json object = nlohmann::json::parse(result.out, nullptr, false);
    REQUIRE_MESSAGE(object.is_object(), result.out);
    return object;
  }

 private:
  static constexpr const char* kOut = ".stdout";
  static constexpr const char* kErr = ".stderr";

  static std::string read_path(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[noreturn]] void execute(std::vector<std::string> arguments, const std::string& out,
                            const std::string& err) const {
    arguments.insert(arguments.begin(), PLACETO_CLI);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int none = open("/dev/null", O_RDONLY);
    const bool ready = dup2(none, 0) == 0 && dup2(out_file, 1) == 1 && dup2(err_file, 2) == 2 &&
                       chdir(root_.c_str()) == 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit most{memory_, memory_};
    if (memory_ != 0) setrlimit(RLIMIT_AS, &most);
#endif
    const rlimit largest{file_, file_};
    if (file_ != 0) setrlimit(RLIMIT_FSIZE, &largest);
    const rlimit longest{seconds_, seconds_};
    if (seconds_ != 0) setrlimit(RLIMIT_CPU, &longest);
    if (ready) execv(PLACETO_CLI, argv.data());
    _exit(127);
  }

  std::filesystem::path root_;
  uint64_t memory_ = 0;   // 0: no limit
  uint64_t file_ = 0;     // 0: no limit
  uint64_t seconds_ = 0;  // 0: no limit
};

// Six nodes; `a` and `f` share a device.
//
//        b
//      /   \.
//    a       d - e - f
//      \   /
//        c
inline std::string small_graph() {
  return R"({"format_version": 1, "name": "small", "nodes": [
    {"name": "a", "op": "In", "cost_us": [10], "outputs": [1000], "colocate": "ends"},
    {"name": "b", "op": "Conv", "cost_us": [100], "outputs": [1000], "resident_bytes": 5000},
    {"name": "c", "op": "Conv", "cost_us": [100], "outputs": [1000], "resident_bytes": 5000},
    {"name": "d", "op": "Add", "cost_us": [10], "outputs": [1000]},
    {"name": "e", "op": "Conv", "cost_us": [50.25], "outputs": [1000], "resident_bytes": 5000},
    {"name": "f", "op": "Out", "cost_us": [1], "colocate": "ends"}],
   "edges": [{"target": 1}, {"target": 2}, {"source": 1, "target": 3}, {"source": 2, "target": 3},
             {"source": 3, "target": 4}, {"source": 4, "target": 5}]})";
}

// Two devices with that much memory each; 0: unlimited.
inline std::string small_topology(unsigned memory_bytes = 0) {
  const std::string memory = std::to_string(memory_bytes);
  return R"({"format_version": 1, "name": "pair", "op_gap_us": 1, "devices": [
    {"name": "gpu:0", "kind": "gpu", "memory_bytes": )" +
         memory + R"(}, {"name": "gpu:1", "kind": "gpu", "memory_bytes": )" + memory +
         R"(}], "default_link": {"bandwidth_bytes_per_us": 1000, "gap_us": 2}})";
}

// A place with six nodes and two devices to work on.
struct SmallScene : Workplace {
  std::string graph = write("graph.json", small_graph());
  std::string topology = write("topology.json", small_topology());
};

struct PlacedScene : SmallScene {
  std::string placement = write("placement.json", R"({"format_version": 1, "graph": "small",
      "topology": "pair", "devices": ["gpu:0", "gpu:1"], "assignment": [0, 0, 1, 0, 0, 0]})");
};

// A place where commands fail and leave the files as they were.
template <class Scene>
struct Refusing : Scene {
  std::vector<std::string> before = this->files();

  // The command fails with that status, one message that holds `text`, and no output at all.
  void fails(const std::vector<std::string>& arguments, int status, const std::string& text) {
    std::string command;
    for (const std::string& argument : arguments) command += argument + " ";
    INFO(command);
    const Run result = this->run(arguments);
    CHECK_MESSAGE(result.status == status, result.err);
    const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    if (json) {
      const auto object = nlohmann::json::parse(result.out, nullptr, false);
      REQUIRE_MESSAGE(object.is_object(), result.out);
      CHECK(object["exit_status"] == status);
      CHECK(object["error"].get<std::string>().find(text) != std::string::npos);
    } else {
      CHECK(result.out == "");
    }
    CHECK_MESSAGE(result.err.find(text) != std::string::npos, result.err);
    CHECK(result.err.rfind("placeto: ", 0) == 0);
    CHECK(this->files() == before);
  }
  std::string add(const std::string& name, const std::string& text) {
    const std::string path = this->write(name, text);
    before = this->files();
    return path;
  }
};

}  // namespace placeto::test
