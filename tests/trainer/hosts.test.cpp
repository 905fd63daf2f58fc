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

#include <fmt/format.h>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/trainer/support.h"
#include "tools/io/write.h"
#include "tools/workloads/workload.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/train/run_folder.h"
#include "trainer/train/train.h"

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
[check]
every = 2
problems = 3
save_every = 1
[learn]
hidden = [8]
)";

// Behind [learn].
constexpr const char* kCredit = R"(
window = 2
steps = 5
decisions = 32
[collect]
problems = 5
decisions = 40
max_evaluations = 100
)";

constexpr const char* kRollouts = R"(
[episodes]
graphs = 5
rollouts = 3
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

std::string config_of(uint32_t iterations, const std::string& algorithm = "credit") {
  return "algorithm = \"" + algorithm + "\"\niterations = " + std::to_string(iterations) + kConfig +
         (algorithm == "credit" ? kCredit : kRollouts);
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

// placeto-train with these arguments, its messages in a file, run in a folder.
class Process {
 public:
  Process(std::vector<std::string> arguments, const std::string& messages,
          const std::string& folder = ".") {
    arguments.insert(arguments.begin(), PLACETO_TRAIN);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    REQUIRE(posix_spawn(&id_, PLACETO_TRAIN, &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() {
    if (id_ > 0) end(), wait();
  }
  Process(const Process&) = delete;
  void end(int signal = SIGKILL) const { kill(id_, signal); }
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

// Those of one of two hosts, behind what it begins or continues.
std::vector<std::string> host(std::vector<std::string> what, uint32_t rank,
                              const std::string& address, uint32_t timeout) {
  const std::string more[] = {"--hosts",   "2",     "--rank",    std::to_string(rank),
                              "--address", address, "--timeout", std::to_string(timeout)};
  what.insert(what.end(), std::begin(more), std::end(more));
  return what;
}

std::vector<std::string> host(const std::string& config, const std::string& run, uint32_t rank,
                              const std::string& address, uint32_t timeout) {
  return host({"--config", config, "-o", run}, rank, address, timeout);
}

bool has_files(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path) && !std::filesystem::is_empty(path, ignored);
}

std::vector<uint8_t> exported(const std::string& run) {
  const RunFolder folder(run);
  std::string text;
  const Result<Config> config = load_config(folder.file("config.toml"), &text);
  REQUIRE(config.ok());
  const Result<std::vector<uint8_t>> policy = export_run(*config, text, make_algorithm, folder);
  REQUIRE(policy.ok());
  return *policy;
}

std::vector<float> weights_of(const std::vector<uint8_t>& file) {
  const Result<PolicySpec> policy = decode_policy(file, known_features());
  REQUIRE(policy.ok());
  std::vector<float> weights;
  for (const PolicyTensor& t : policy->tensors) {
    weights.insert(weights.end(), t.data.begin(), t.data.end());
  }
  return weights;
}

// Policy files of two hosts that trained together, and of one that did all the work.
struct Exported {
  std::vector<uint8_t> first, second, alone;
};

// In the folders a and b.
Exported train_on_two(const test::TemporaryFolder& folder, const std::string& text) {
  const std::string config = folder.file("config.toml"), address = free_address();
  REQUIRE(write_whole(config, text).ok());
  Process first(host(config, folder.file("a"), 0, address, 120), folder.file("a.messages"));
  Process second(host(config, folder.file("b"), 1, address, 120), folder.file("b.messages"));
  CHECK(first.wait() == 0);
  CHECK(second.wait() == 0);
  return {exported(folder.file("a")), exported(folder.file("b")), {}};
}

Exported train_on_two_and_on_one(const std::string& text) {
  const test::TemporaryFolder folder;
  Exported trained = train_on_two(folder, text);
  Process alone({"--config", folder.file("config.toml"), "-o", folder.file("c")},
                folder.file("c.messages"));
  CHECK(alone.wait() == 0);
  trained.alone = exported(folder.file("c"));
  return trained;
}

// Exit status and messages of both hosts, continued in the folders a and b.
std::vector<std::pair<int, std::string>> resume_two(const test::TemporaryFolder& folder) {
  const std::string address = free_address(), messages[] = {folder.file("m0"), folder.file("m1")};
  Process a(host({"--resume", folder.file("a")}, 0, address, 120), messages[0]);
  Process b(host({"--resume", folder.file("b")}, 1, address, 120), messages[1]);
  const int status[] = {a.wait(), b.wait()};
  return {{status[0], *read_text(messages[0])}, {status[1], *read_text(messages[1])}};
}

size_t files_in(const std::string& path) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
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

TEST_CASE("hosts continue from the last checkpoint that all have, wherever each was killed") {
  const test::TemporaryFolder folder;
  uint32_t iterations = 3, kept = 2;
  SUBCASE("one before it saved what the other saved") {}
  SUBCASE("one before it saved anything") {
    iterations = kept = 1;
  }
  const std::string text = config_of(iterations);
  const Exported whole = train_on_two(folder, text);
  const std::string lost = fmt::format("/checkpoints/{:06}.ckpt", iterations);
  REQUIRE(std::filesystem::remove(folder.file("b") + lost));
  for (const auto& [status, messages] : resume_two(folder)) {
    CAPTURE(messages);
    CHECK(status == 0);
  }
  CHECK(exported(folder.file("a")) == whole.first);
  CHECK(exported(folder.file("b")) == whole.first);
  CHECK(files_in(folder.file("a") + "/checkpoints") == kept);
}

TEST_CASE("hosts that have no checkpoint in common say what each has") {
  const test::TemporaryFolder folder;
  train_on_two(folder, config_of(3));
  REQUIRE(std::filesystem::remove_all(folder.file("b") + "/checkpoints") == 3);
  for (const auto& [status, messages] : resume_two(folder)) {
    CHECK(status == 3);
    CHECK(messages.find("host 0 has checkpoints of iterations 2, 3; host 1 of 0") !=
          std::string::npos);
  }
}

TEST_CASE("hosts do not train together on GPUs, whose weights would differ") {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml"), address = free_address();
  std::string text = config_of(1);
  text.replace(text.find("[learn]"), 7, "[learn]\nprocessor = \"cuda\"");
  REQUIRE(write_whole(config, text).ok());
  Process first(host(config, folder.file("a"), 0, address, 120), folder.file("a.messages"));
  Process second(host(config, folder.file("b"), 1, address, 120), folder.file("b.messages"));
  CHECK(first.wait() == 2);
  CHECK(second.wait() == 2);
  for (const char* name : {"a", "b"}) {
    const std::string messages = *read_text(folder.file(name) + ".messages");
    CHECK_MESSAGE(messages.find("or one host") != std::string::npos, messages);
  }
}

TEST_CASE("hosts with other graphs of the same names do not train together") {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml"), address = free_address();
  std::string text = config_of(1);
  const std::string drawn = "max_nodes = 60\nlarge_share = 0\nnetwork_share = 0\n";
  text.replace(text.find(drawn), drawn.size(),
               "graphs = [\"net.graph\"]\ntopologies = [\"2xk80\"]\n");
  REQUIRE(write_whole(config, text).ok());
  WorkloadOptions options;
  options.nodes = 20;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(folder.file(name));
    options.seed += 1;
    REQUIRE(write_graph(folder.file(name) + "/net.graph", *generate("layered", options)).ok());
  }
  Process first(host(config, "run", 0, address, 120), folder.file("a.messages"), folder.file("a"));
  Process second(host(config, "run", 1, address, 120), folder.file("b.messages"), folder.file("b"));
  CHECK(first.wait() == 3);
  CHECK(second.wait() == 3);
  for (const char* name : {"a", "b"}) {
    const std::string messages = *read_text(folder.file(name) + ".messages");
    CHECK_MESSAGE(messages.find("the same graphs") != std::string::npos, messages);
  }
}

TEST_CASE("a host that another stops ends with a status that says so") {
  const test::TemporaryFolder folder;
  const std::string config = folder.file("config.toml"), address = free_address();
  REQUIRE(write_whole(config, config_of(100'000)).ok());
  Process first(host(config, folder.file("a"), 0, address, 20), folder.file("messages"));
  Process second(host(config, folder.file("b"), 1, address, 20), folder.file("b.messages"));
  const std::string checkpoints = folder.file("a") + "/checkpoints";
  for (int i = 0; i < 600 && !has_files(checkpoints); ++i) usleep(100'000);
  second.end(SIGTERM);
  CHECK(second.wait() == -1);
  CHECK(first.wait() == 4);
  const std::string messages = *read_text(folder.file("messages"));
  CHECK_MESSAGE(messages.find("another host was stopped; saved in") != std::string::npos, messages);
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
  CHECK(RunFolder(folder.file("a")).load_latest().ok());
}
