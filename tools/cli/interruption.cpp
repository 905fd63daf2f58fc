#include "tools/cli/interruption.h"

#include <csignal>

namespace placeto::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> has_come{false};
volatile std::sig_atomic_t which = 0;

// Once: a second one ends the program.
void remember(int signal) {
  which = signal;
  has_come = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interruption::Interruption() {
  for (const int signal : kSignals) {
    if (std::signal(signal, remember) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup
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

void Interruption::obey() const {
  obey_what_came();
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

void Interruption::obey_what_came() {
  if (!has_come) return;
  std::signal(which, SIG_DFL);
  std::raise(which);
}

}  // namespace placeto::cli
