#include "trainer/base/progress.h"

#include <fmt/format.h>

namespace placeto::train {

ProgressLine::ProgressLine(std::FILE* to, Clock::duration apart)
    : to_(to), line_(to), apart_(apart), began_(Clock::now()), shown_at_(began_) {}

void ProgressLine::show(std::string_view text, bool last) {
  if (line_.is_seen() && !last) return line_.show(text);
  const Clock::time_point now = Clock::now();
  if (!last && now - shown_at_ < apart_) return;
  shown_at_ = now;
  line_.clear();
  std::fputs(fmt::format("{}\n", text).c_str(), to_);
  std::fflush(to_);
}

OnProgress ProgressLine::callback() {
  return [this](uint32_t done, uint32_t total) {
    const std::chrono::duration<double, std::milli> taken = Clock::now() - began_;
    show(fmt::format("{}/{}  {} left", done, total,
                     rough_time(taken.count() / done * (total - done))));
  };
}

}  // namespace placeto::train
