// How a program ends that a signal, or several, told to end.
#include "tools/io/interruption.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace placeto;

namespace {

constexpr int kUnharmed = 3;
constexpr useconds_t kUntilAnotherRequest = 600'000;

// What ends a process in which `live` runs; at most one Interruption has been in each.
template <typename Live>
int end_of(Live live) {
  const pid_t id = fork();
  if (id == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    live();
    _exit(kUnharmed);
  }
  int status = 0;
  waitpid(id, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace

// `timeout` signals what it started, and then the group that this is in.
TEST_CASE("a signal that is sent twice is one request, and the program ends when it obeys") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(signal);
    const auto twice = [&] {
      const Interruption interruption;
      std::raise(signal);
      std::raise(signal);
      if (!*interruption.flag() || !Interruption::came()) _exit(1);
      std::raise(SIGTERM);
    };
    CHECK(end_of(twice) == -kUnharmed);
    CHECK(end_of([&] {
            twice();
            Interruption::obey();
          }) == signal);
  }
}

TEST_CASE("another signal, later, ends the program at once, by the first") {
  CHECK(end_of([] {
          const Interruption interruption;
          std::raise(SIGTERM);
          usleep(kUntilAnotherRequest);
          std::raise(SIGINT);
        }) == SIGTERM);
}

TEST_CASE("signals that are ignored stay so, and others are as they were afterwards") {
  CHECK(end_of([] {
          std::signal(SIGHUP, SIG_IGN);
          const Interruption interruption;
          std::raise(SIGHUP);
          if (Interruption::came()) _exit(0);
        }) == -kUnharmed);
  CHECK(end_of([] {
          { const Interruption interruption; }
          std::raise(SIGTERM);
        }) == SIGTERM);
}
