#include "tools/cli/interruption.h"

#include <csignal>

namespace placeto::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> came{false};
volatile std::sig_atomic_t which = 0;

// Once: a second one ends the program.
void remember(int signal) {
  which = signal;
  came = true;
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
  return &came;
}

void Interruption::obey() const {
  if (!came) return;
  std::signal(which, SIG_DFL);
  std::raise(which);
}

}  // namespace placeto::cli
