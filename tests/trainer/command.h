// A folder with a small run's configuration, and the command run in it.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "tests/trainer/support.h"
#include "trainer/base/files.h"

namespace placeto::train {

struct Place : test::TemporaryFolder {
  std::string config = write("c.toml", R"(
iterations = 1
threads = 1
[data]
max_nodes = 40
large_share = 0
network_share = 0
[collect]
problems = 4
decisions = 60
min_evaluations = 1
max_evaluations = 60
[check]
problems = 1
[learn]
steps = 1
decisions = 8
)");

  std::string write(const std::string& name, const std::string& text) const {
    REQUIRE(write_whole(file(name), text).ok());
    return file(name);
  }
  // Arguments as for a shell; standard output goes to `out`.
  int run(const std::string& arguments, const std::string& out = "/dev/null") const {
    const std::string line = PLACETO_TRAIN " " + arguments + " >" + out + " 2>" + file("messages");
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void fails(const std::string& arguments, int status, const std::string& text,
             const std::string& out = "/dev/null") const {
    INFO(arguments);
    CHECK(run(arguments, out) == status);
    const std::string messages = *read_text(file("messages"));
    CHECK_MESSAGE(messages.find(text) != std::string::npos, messages);
  }
  // Is sent the signal once it waits for it and it is time, and ends as the signal would have it
  // end.
  void ends_by(int signal, const std::string& arguments,
               const std::function<bool()>& is_time) const {
    const std::string line =
        "exec " PLACETO_TRAIN " " + arguments + " >" + file("out") + " 2>" + file("messages");
    const pid_t id = fork();
    if (id == 0) {
      std::signal(signal, SIG_DFL);  // who runs the tests may ignore it
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      std::_Exit(127);
    }
    for (int i = 0; i < 600 && (!catches(id, signal) || !is_time()); ++i) usleep(100'000);
    kill(id, signal);
    int status = 0;
    waitpid(id, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }

  // Whether the process has a handler for the signal.
  static bool catches(pid_t id, int signal) {
    std::ifstream status("/proc/" + std::to_string(id) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigCgt:")) continue;
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
    return false;
  }
};

}  // namespace placeto::train
