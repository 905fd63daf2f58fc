// What a function does to its own process stays there.
#include "tools/io/guarded_child.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

using namespace placeto;

namespace {

constexpr int kHigh = 5000;  // beyond the first 4,096 descriptors

std::string misbehave(const std::string& request) {
  if (request == "throw") throw std::runtime_error("as asked");
  if (request == "crash") raise(SIGSEGV);
  if (request == "abort") abort();
  if (request == "exit") _exit(0);
  if (request == "hang") pause();
  if (request == "part" || request == "drip") {  // an answer of a thousand bytes begins
    const uint64_t header[2] = {1000, 0};
    if (write(3, header, sizeof header) < 0) _exit(1);
    while (request == "drip" && write(3, "x", 1) == 1) usleep(100'000);
    pause();
  }
  if (request == "fill") {
    std::vector<std::vector<char>> all;
    while (true) all.emplace_back(1 << 20, 'x');
  }
  if (request == "loop") {
    while (getppid() != 0) {
    }
  }
  if (request == "flood") return std::string(GuardedChild::kMostBytes + 1, 'x');
  if (request == "open") return open("/dev/null", O_RDONLY) < 0 ? "refused" : "opened";
  if (request == "high") return fcntl(kHigh, F_GETFD) < 0 ? "closed" : "open";
  return request + request;
}

constexpr ChildLimits kTight{
    .memory_bytes = 256 << 20, .cpu_seconds = 1, .wall_seconds = 20, .deaths = 16};

}  // namespace

TEST_CASE("a guarded function answers, and says what it threw") {
  GuardedChild child(misbehave);
  for (const std::string& request : {std::string(), std::string("ab"), std::string(3 << 20, 'z')}) {
    const auto answer = child.ask(request);
    REQUIRE(answer.ok());
    CHECK(*answer == request + request);
  }
  CHECK(child.ask("throw").status().message() == "as asked");
#ifndef __SANITIZE_ADDRESS__  // which opens pipes itself to see whether memory is there
  CHECK(*child.ask("open") == "refused");
#endif
}

TEST_CASE("a guarded function that is stopped is gone, and the next request gets a new one") {
  GuardedChild child(misbehave);
  int looks = 0;
  Stop stop([](void* seen) { return ++*static_cast<int*>(seen) > 2; }, &looks);
  CHECK(child.ask("hang", &stop).status().code() == StatusCode::kStopped);
  Stop never;
  CHECK(*child.ask("ab", &never) == "abab");
}

TEST_CASE("a guarded function that crashes, hangs or fills memory leaves the caller unharmed") {
  GuardedChild child(misbehave, kTight);
  const std::pair<const char*, const char*> cases[] = {
      {"crash", "crashed (signal 11)"},    {"abort", "crashed (signal 6)"},
      {"exit", "ended without an answer"}, {"flood", "ended without an answer"},
      {"fill", "ran out of memory"},       {"loop", "took too long"}};
  for (const auto& [request, why] : cases) {
    const auto answer = child.ask(request);
    REQUIRE(!answer.ok());
#ifndef __SANITIZE_ADDRESS__  // which has ways of its own to end a program
    CHECK(answer.status().message() == std::string(why));
#endif
    CHECK(*child.ask("ab") == "abab");
  }
  GuardedChild slow(misbehave, {.wall_seconds = 1});
  // A child that something has taken over may say anything to the parent, and as slowly as it
  // likes.
  for (const char* request : {"hang", "part", "drip"}) {
    CHECK_MESSAGE(slow.ask(request).status().message() == "took too long", request);
  }
  int looks = 0;
  Stop stop([](void* seen) { return ++*static_cast<int*>(seen) > 2; }, &looks);
  CHECK(slow.ask("part", &stop).status().code() == StatusCode::kStopped);
}

#ifdef __linux__
TEST_CASE("a guarded function serves the first process of a container, too") {
  const pid_t outside = fork();
  REQUIRE(outside >= 0);
  constexpr int kAnswered = 0, kNot = 1, kNoContainer = 2;
  if (outside == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(kNoContainer);
    const pid_t first = fork();  // process 1 there
    if (first == 0) {
      GuardedChild child(misbehave);
      const auto answer = child.ask("ab");
      _exit(getpid() == 1 && answer.ok() && *answer == "abab" ? kAnswered : kNot);
    }
    if (first < 0) _exit(kNoContainer);
    int status = 0;
    _exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : kNot);
  }
  int status = 0;
  REQUIRE(waitpid(outside, &status, 0) == outside);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoContainer) {
    MESSAGE("not looked at: this system lets nobody make containers");
  } else {
    CHECK(WEXITSTATUS(status) == kAnswered);
  }
}
#endif

TEST_CASE("a guarded function holds none of a busy server's files open") {
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit many = before;
  many.rlim_cur = std::max<rlim_t>(before.rlim_cur, kHigh + 1);
  if (setrlimit(RLIMIT_NOFILE, &many) != 0) return;  // this system gives no more
  const int file = fcntl(0, F_DUPFD, kHigh);
  REQUIRE(file == kHigh);
  GuardedChild child(misbehave);
  CHECK(*child.ask("high") == "closed");
  close(file);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a guarded function that dies again and again is given up") {
  GuardedChild child(misbehave, {.deaths = 2});
  CHECK(!child.ask("exit").ok());
  CHECK(child.ask("ab").ok());
  CHECK(!child.ask("exit").ok());
  CHECK(child.ask("ab").status().message() == "failed too often");
}
