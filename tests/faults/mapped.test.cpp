// What happens to a policy when somebody changes its file under it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/format/file.h"
#include "runtime/policy/file/policy_file.h"
#include "tests/support/small_policies.h"
#include "tests/unit/capi_support.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

// A file with a policy whose weights fill many pages.
class PolicyOnDisk {
 public:
  PolicyOnDisk() {
    std::string name = (fs::temp_directory_path() / "placeto-mapped-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    write(11);
  }
  ~PolicyOnDisk() { fs::remove_all(folder_); }
  PolicyOnDisk(const PolicyOnDisk&) = delete;
  PolicyOnDisk& operator=(const PolicyOnDisk&) = delete;

  // As it should be done: write, then rename.
  void write(uint64_t seed) {
    PolicySpec spec = test::published_placeto_policy(3, 2, true, seed);
    REQUIRE(write_file_atomically(path(), *encode_policy(spec)).ok());
  }
  void truncate() { fs::resize_file(path(), 0); }
  void overwrite() {
    const std::vector<char> noise(fs::file_size(path()), '\xff');
    const int fd = open(path().c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, noise.data(), noise.size()) == static_cast<ssize_t>(noise.size()));
    close(fd);
  }
  std::string path() const { return folder_ / "policy"; }

 private:
  fs::path folder_;
};

capi_test::Policy load(const PolicyOnDisk& file, int32_t mode) {
  placeto_policy* policy = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(
      placeto_policy_load_file(file.path().c_str(), mode, nullptr, &policy, &error) == PLACETO_OK,
      error.message);
  return capi_test::Policy(policy);
}

std::vector<uint32_t> place_with(const capi_test::Policy& policy) {
  const capi_test::Graph graph = capi_test::ladder(6);
  const capi_test::Topology topology = capi_test::devices(3);
  placeto_options options;
  REQUIRE(placeto_default_options(&options, sizeof options) == PLACETO_OK);
  options.method = "policy";
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_place(graph.get(), topology.get(), policy.get(), &options, &placement,
                                &error) == PLACETO_OK,
                  error.message);
  const capi_test::Placement owned(placement);
  std::vector<uint32_t> devices(placeto_placement_node_count(placement));
  REQUIRE(placeto_placement_assignment(placement, devices.data(), devices.size(), nullptr) ==
          PLACETO_OK);
  return devices;
}

}  // namespace

TEST_CASE("a policy that was read does not notice what happens to its file") {
  PolicyOnDisk file;
  const capi_test::Policy policy = load(file, PLACETO_FILE_READ);
  const std::vector<uint32_t> before = place_with(policy);
  file.overwrite();
  CHECK(place_with(policy) == before);
  file.truncate();
  CHECK(place_with(policy) == before);
  fs::remove(file.path());
  CHECK(place_with(policy) == before);
}

TEST_CASE("a policy that was mapped keeps its content when its file is replaced") {
  PolicyOnDisk file;
  const capi_test::Policy policy = load(file, PLACETO_FILE_MAP);
  const std::vector<uint32_t> before = place_with(policy);
  file.write(12);
  CHECK(place_with(policy) == before);
  fs::remove(file.path());
  CHECK(place_with(policy) == before);
}

TEST_CASE("a policy file that is cut or scribbled over is refused, however it is loaded") {
  for (const int32_t mode : {PLACETO_FILE_READ, PLACETO_FILE_MAP}) {
    PolicyOnDisk file;
    placeto_error error;
    placeto_policy* policy = nullptr;
    file.overwrite();
    CHECK(placeto_policy_load_file(file.path().c_str(), mode, nullptr, &policy, &error) ==
          PLACETO_BAD_INPUT);
    file.truncate();
    CHECK(placeto_policy_load_file(file.path().c_str(), mode, nullptr, &policy, &error) ==
          PLACETO_BAD_INPUT);
    CHECK(policy == nullptr);
  }
}

// Why the header says that a mapped file must not be changed in place, and why reading is the
// default: nothing that a library may do catches this.
TEST_CASE(
    "a mapped policy whose file is cut ends the program, which is why reading is the default") {
  PolicyOnDisk file;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int s : {SIGBUS, SIGSEGV}) signal(s, SIG_DFL);
    const capi_test::Policy policy = load(file, PLACETO_FILE_MAP);
    file.truncate();
    place_with(policy);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

}  // namespace placeto
