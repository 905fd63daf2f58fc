// Two processes on this machine train together, started as a person would: one command for each.
#include "trainer/train/hosts.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/trainer/support.h"
#include "trainer/base/files.h"
#include "trainer/train/run_folder.h"

using namespace placeto;
using namespace placeto::train;

extern char** environ;

namespace {

// Behind "iterations".
constexpr const char* kConfig = R"(
threads = 1
[data]
max_nodes = 60
large_share = 0
network_share = 0
[collect]
problems = 5
decisions = 40
max_evaluations = 100
[learn]
hidden = [8]
window = 2
steps = 5
decisions = 32
[episodes]
graphs = 5
rollouts = 3
[check]
every = 2
problems = 3
save_every = 1
)";

constexpr const char* kEpisodes = R"(
architecture = "placeto"
iterations = 4
threads = 1
[data]
min_nodes = 15
max_nodes = 25
network_share = 0
unlike_share = 0
memory_share = 0
fixed_graphs = 2
[placeto]
rounds = 2
[episodes]
graphs = 2
rollouts = 3
batches = 2
[check]
every = 4
save_every = 2
)";

std::string config_of(uint32_t iterations, std::string algorithm = "credit") {
  return "algorithm = \"" + algorithm + "\"\niterations = " + std::to_string(iterations) + kConfig;
}

// A port that was free a moment ago.
std::string free_address() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(s, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(s);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// placeto-train with these arguments, its messages in a file.
class Process {
 public:
  Process(std::vector<std::string> arguments, const std::string& messages) {
    arguments.insert(arguments.begin(), PLACETO_TRAIN);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(posix_spawn(&id_, PLACETO_TRAIN, &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() {
    if (id_ > 0) end(), wait();
  }
  Process(const Process&) = delete;
  void end() const { kill(id_, SIGKILL); }
  // The exit status, or -1 if a signal ended it.
  int wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t id_ = -1;
};

std::vector<std::string> host(const std::string& config, const std::string& run, uint32_t rank,
                              const std::string& address, uint32_t timeout) {
  return {"--config",  config,  "-o",        run,
          "--hosts",   "2",     "--rank",    std::to_string(rank),
          "--address", address, "--timeout", std::to_string(timeout)};
}

bool has_files(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path) && !std::filesystem::is_empty(path, ignored);
}

std::string exported(const std::string& run, const std::string& file) {
  Process process({"export", run, "-o", file}, file + ".messages");
  REQUIRE(process.wait() == 0);
  return *read_text(file);
}

std::vector<float> weights_of(const std::string& file) {
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  const Result<PolicySpec> policy = decode_policy(bytes, known_features());
  REQUIRE(policy.ok());
  std::vector<float> weights;
  for (const PolicyTensor& t : policy->tensors) {
    weights.insert(weights.end(), t.data.begin(), t.data.end());
  }
  return weights;
}

// Policy files of two hosts that trained together, and of one that did all the work.
struct Exported {
  std::string first, second, alone;
};

Exported train_on_two_and_on_one(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml"), address = free_address();
  REQUIRE(write_whole(config, text).ok());
  Process first(host(config, folder.file("a"), 0, address, 120), folder.file("a.messages"));
  Process second(host(config, folder.file("b"), 1, address, 120), folder.file("b.messages"));
  Process alone({"--config", config, "-o", folder.file("c")}, folder.file("c.messages"));
  CHECK(first.wait() == 0);
  CHECK(second.wait() == 0);
  CHECK(alone.wait() == 0);
  return {exported(folder.file("a"), folder.file("a.plpo")),
          exported(folder.file("b"), folder.file("b.plpo")),
          exported(folder.file("c"), folder.file("c.plpo"))};
}

}  // namespace

TEST_CASE("two hosts end with the weights of one host that does all the work") {
  for (const char* algorithm : {"credit", "siblings"}) {
    CAPTURE(algorithm);
    const Exported trained = train_on_two_and_on_one(config_of(3, algorithm));
    CHECK(trained.first == trained.second);
    CHECK(trained.first == trained.alone);
  }
}

// Sums of gradients over hosts are added up in another order than on one: not the same bits.
TEST_CASE("two hosts learn from episodes what one host learns that runs all of them") {
  for (const char* algorithm : {"siblings", "reinforce"}) {
    CAPTURE(algorithm);
    const Exported trained =
        train_on_two_and_on_one(std::string("algorithm = \"") + algorithm + "\"" + kEpisodes);
    CHECK(trained.first == trained.second);
    const std::vector<float> x = weights_of(trained.first), y = weights_of(trained.alone);
    REQUIRE(x.size() == y.size());
    float most = 0;
    for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
    CHECK(most < 1e-4f);
  }
}

TEST_CASE("a host that waits for one that never comes says so, and ends") {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml");
  REQUIRE(write_whole(config, config_of(3)).ok());
  Process first(host(config, folder.file("a"), 0, free_address(), 2), folder.file("messages"));
  CHECK(first.wait() == 4);
  const std::string messages = *read_text(folder.file("messages"));
  CHECK(messages.find("host 0 of 2 cannot meet the others") != std::string::npos);
}

TEST_CASE("a host notices that another died, keeps its checkpoints, and ends") {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml"), address = free_address();
  REQUIRE(write_whole(config, config_of(100'000)).ok());
  Process first(host(config, folder.file("a"), 0, address, 20), folder.file("messages"));
  {
    Process second(host(config, folder.file("b"), 1, address, 20), folder.file("b.messages"));
    const std::string checkpoints = folder.file("a") + "/checkpoints";
    for (int i = 0; i < 600 && !has_files(checkpoints); ++i) usleep(100'000);
    second.end();
  }
  CHECK(first.wait() == 4);
  const std::string messages = *read_text(folder.file("messages"));
  CHECK(messages.find("host 0 of 2 cannot exchange records") != std::string::npos);
  CHECK(RunFolder(folder.file("a")).load(nullptr).ok());
}
