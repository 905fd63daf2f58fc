#include "tools/cli/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <limits>
#include <string>

#include "tools/report/table.h"

namespace placeto::cli {
namespace {

std::atomic<bool> pressed{false};

// Once: a second Ctrl-C ends the program.
void on_interrupt(int signal) {
  pressed = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Watch::Watch(double deadline_ms, const Budget& budget, bool listens)
    : deadline_ms_(deadline_ms),
      budget_(budget),
      listens_(listens),
      is_shown_(listens && isatty(STDERR_FILENO) == 1),
      stop_(ask, this) {
  stop_.head_start();
  if (listens_) std::signal(SIGINT, on_interrupt);
}

Watch::~Watch() {
  clear();
  stop_listening();
}

void Watch::stop_listening() {
  if (listens_) std::signal(SIGINT, SIG_DFL);
  listens_ = false;
}

bool Watch::interrupted() {
  return pressed;
}

double Watch::left_ms() const {
  if (pressed) return 0;
  if (deadline_ms_ == 0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, deadline_ms_ - elapsed_ms());
}

void Watch::clear() {
  if (shown_at_ms_ > 0) std::fputs("\r\x1b[K", stderr);
  shown_at_ms_ = 0;
}

double Watch::elapsed_ms() const {
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start_;
  return elapsed.count();
}

bool Watch::look() {
  constexpr double kFirstMs = 1000, kEveryMs = 250;
  const double now_ms = elapsed_ms();
  if (search_began_ms_ < 0 && stop_.progress().evaluations > 0) search_began_ms_ = now_ms;
  if (is_shown_ && now_ms > kFirstMs && now_ms > shown_at_ms_ + kEveryMs) show(now_ms);
  return pressed || (deadline_ms_ > 0 && now_ms >= deadline_ms_);
}

// Until the first limit that is reached; negative: nobody knows.
double Watch::expected_ms(double now_ms) const {
  double left = -1;
  const auto limit = [&left](double ms) {
    if (ms >= 0 && (left < 0 || ms < left)) left = ms;
  };
  if (deadline_ms_ > 0) limit(deadline_ms_ - now_ms);
  if (search_began_ms_ < 0) return left;
  const double searched = now_ms - search_began_ms_;
  if (budget_.milliseconds > 0) limit(budget_.milliseconds - searched);
  if (budget_.evaluations > 0) {
    limit(searched * (static_cast<double>(budget_.evaluations) / stop_.progress().evaluations - 1));
  }
  return left;
}

void Watch::show(double now_ms) {
  shown_at_ms_ = now_ms;
  std::string text = fmt::format("\r\x1b[Kplacing for {:.0f} s", now_ms / 1000);
  if (const double best_us = stop_.progress().best_us; best_us > 0) {
    text += ", best so far " + format_us(best_us);
  }
  if (const double left = expected_ms(now_ms); left >= 0) {
    text += fmt::format(", {:.0f} s left", left / 1000);
  }
  std::fputs((text + "; Ctrl-C takes the best").c_str(), stderr);
}

}  // namespace placeto::cli
