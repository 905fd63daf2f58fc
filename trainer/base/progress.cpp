#include "trainer/base/progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace placeto::train {

std::string duration(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", s / 3'600, s / 60 % 60, s % 60);
}

ProgressLine::ProgressLine()
    : shown_(isatty(STDERR_FILENO) == 1), began_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::clear() const {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(uint32_t done, uint32_t total) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  const std::string left = duration(taken.count() / done * (total - done));
  // A terminal that is gone is no reason to stop.
  std::fputs(fmt::format("\r{}/{}  {} left \x1b[K", done, total, left).c_str(), stderr);
}

OnProgress ProgressLine::callback() {
  if (!shown_) return {};
  return [this](uint32_t done, uint32_t total) { show(done, total); };
}

}  // namespace placeto::train
