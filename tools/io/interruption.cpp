#include "tools/io/interruption.h"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace placeto {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int64_t kSameRequestMs = 500;

std::atomic<bool> has_come{false};
volatile std::sig_atomic_t which = 0;
std::atomic<int64_t> came_at_ms{0};  // 0: not yet
static_assert(std::atomic<int64_t>::is_always_lock_free);
std::string_view first_words;

// As a handler may read it.
int64_t now_ms() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void end_by_what_came() {
  std::signal(which, SIG_DFL);
  std::raise(which);
}

extern "C" void remember_interruption(int signal) {
  const int error = errno;  // of what it interrupts
  int64_t before = 0;
  const int64_t now = now_ms();
  if (came_at_ms.compare_exchange_strong(before, now)) {
    which = signal;
    has_come = true;
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, first_words.data(), first_words.size());
  } else if (now - before > kSameRequestMs) {
    end_by_what_came();
  }
  errno = error;
}

}  // namespace

Interruption::Interruption(std::string_view said) {
  first_words = said;
  for (const int signal : kSignals) {
    if (std::signal(signal, remember_interruption) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

Interruption::~Interruption() {
  for (const int signal : kSignals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

const std::atomic<bool>* Interruption::flag() const {
  return &has_come;
}

bool Interruption::came() {
  return has_come;
}

const char* Interruption::name() {
  return is_ctrl_c() ? "Ctrl-C" : which == SIGTERM ? "SIGTERM" : "SIGHUP";
}

bool Interruption::is_ctrl_c() {
  return which == SIGINT;
}

void Interruption::obey() {
  if (has_come) end_by_what_came();
}

}  // namespace placeto
