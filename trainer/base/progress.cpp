#include "trainer/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace placeto::train {

std::string duration(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", s / 3'600, s / 60 % 60, s % 60);
}

ProgressLine::ProgressLine(std::FILE* to, Clock::duration apart)
    : to_(to),
      on_terminal_(isatty(fileno(to)) == 1),
      apart_(apart),
      began_(Clock::now()),
      shown_at_(began_) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::clear() {
  if (on_terminal_) std::fputs("\r\x1b[K", to_);
}

void ProgressLine::show(std::string_view text, bool last) {
  const Clock::time_point now = Clock::now();
  if (!on_terminal_ && !last && now - shown_at_ < apart_) return;
  shown_at_ = now;
  // A line that is written over may not wrap.
  winsize window{};
  if (on_terminal_ && !last && ioctl(fileno(to_), TIOCGWINSZ, &window) == 0 && window.ws_col > 1) {
    size_t end = std::min<size_t>(text.size(), window.ws_col - 1u);
    while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // inside a letter
    text = text.substr(0, end);
  }
  // A terminal that is gone is no reason to stop.
  std::fputs(on_terminal_ ? fmt::format("\r{} \x1b[K{}", text, last ? "\n" : "").c_str()
                          : fmt::format("{}\n", text).c_str(),
             to_);
  std::fflush(to_);
}

OnProgress ProgressLine::callback() {
  return [this](uint32_t done, uint32_t total) {
    const std::chrono::duration<double> taken = Clock::now() - began_;
    show(fmt::format("{}/{}  {} left", done, total,
                     duration(taken.count() / done * (total - done))));
  };
}

}  // namespace placeto::train
