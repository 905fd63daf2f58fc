#include "tools/cli/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tools/report/table.h"

namespace placeto::cli {
Watch::Watch(double deadline_ms, const Budget& budget, bool listens)
    : deadline_ms_(deadline_ms), budget_(budget), line_(listens), stop_(ask, this) {
  stop_.head_start();
  if (listens) signals_.emplace();
}

double Watch::left_ms() const {
  if (interrupted()) return 0;
  if (deadline_ms_ == 0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, deadline_ms_ - elapsed_ms());
}

void Watch::counts(std::string_view verb, size_t total) {
  line_.clear();
  verb_ = verb;
  total_ = total;
  counts_since_ms_ = elapsed_ms();
}

void Watch::be_quiet() {
  line_.clear();
  is_quiet_ = true;
}

double Watch::elapsed_ms() const {
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start_;
  return elapsed.count();
}

bool Watch::look() {
  constexpr double kFirstMs = 1000, kEveryMs = 250;
  const double now_ms = elapsed_ms();
  if (search_began_ms_ < 0 && progress_.evaluations > 0) search_began_ms_ = now_ms;
  const double since_ms = now_ms - (verb_.empty() ? 0 : counts_since_ms_);
  if (!is_quiet_ && since_ms > kFirstMs && now_ms > shown_at_ms_ + kEveryMs) {
    shown_at_ms_ = now_ms;
    line_.show(verb_.empty() ? placing_text(now_ms) : counting_text(now_ms));
  }
  return interrupted() || (deadline_ms_ > 0 && now_ms >= deadline_ms_);
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
  const auto most = static_cast<double>(budget_.evaluations);
  if (most > progress_.evaluations) limit(searched * (most / progress_.evaluations - 1));
  return left;
}

std::string Watch::placing_text(double now_ms) const {
  std::string text = "placing for " + rough_time(now_ms);
  if (const double best_us = progress_.best_us; best_us > 0) {
    text += ", best so far " + format_us(best_us);
  }
  if (const double left = expected_ms(now_ms); left >= 0) {
    text += ", " + rough_time(left) + " left";
  }
  return text + "; Ctrl-C takes the best";
}

std::string Watch::counting_text(double now_ms) const {
  std::string text = fmt::format("{} {} of {}", verb_, format_count(done_), format_count(total_));
  if (done_ > 0) {
    const double each_ms = (now_ms - counts_since_ms_) / static_cast<double>(done_);
    text += ", " + rough_time(each_ms * static_cast<double>(total_ - done_)) + " left";
  }
  return text + "; Ctrl-C leaves the rest out";
}

}  // namespace placeto::cli
