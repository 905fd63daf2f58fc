#include "trainer/base/stop_signals.h"

#include <unistd.h>

#include <csignal>

namespace placeto::train {
namespace {

struct Known {
  int number;
  std::string_view name;
};
constexpr Known kSignals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

std::atomic<bool> came{false};
volatile std::sig_atomic_t which = 0;
std::string_view message;

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void remember_stop(int signal) {
  which = signal;
  if (came.exchange(true)) return end_by(signal);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
}

}  // namespace

StopSignals::StopSignals(std::string_view said) {
  message = said;
  for (const auto& [signal, name] : kSignals) {
    if (std::signal(signal, remember_stop) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup
  }
}

StopSignals::~StopSignals() {
  for (const auto& [signal, name] : kSignals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

const std::atomic<bool>* StopSignals::flag() const {
  return &came;
}

std::string_view StopSignals::name() const {
  for (const auto& [signal, name] : kSignals) {
    if (signal == which) return name;
  }
  return {};
}

void StopSignals::obey() const {
  if (came) end_by(which);
}

}  // namespace placeto::train
