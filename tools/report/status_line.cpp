#include "tools/report/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tools/report/table.h"

namespace placeto {

StatusLine::StatusLine(std::FILE* to) : to_(to), is_seen_(isatty(fileno(to)) == 1) {}

void StatusLine::show(std::string_view text) {
  if (!is_seen_) return;
  is_shown_ = true;
  winsize size{};
  const bool is_known = ioctl(fileno(to_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::string line = printable(text);
  size_t end = std::min<size_t>(line.size(), is_known ? size.ws_col - 1u : 79u);
  while (end > 0 && end < line.size() && (line[end] & 0xc0) == 0x80) --end;  // inside a letter
  line.resize(end);
  // A terminal that is gone is no reason to stop.
  std::fputs(("\r\x1b[K" + line).c_str(), to_);
  std::fflush(to_);
}

void StatusLine::clear() {
  if (!is_shown_) return;
  std::fputs("\r\x1b[K", to_);
  std::fflush(to_);
  is_shown_ = false;
}

std::string rough_time(double ms) {
  if (ms < 100e3) return fmt::format("{:.0f} s", ms / 1e3);
  if (ms < 100 * 60e3) return fmt::format("{:.0f} min", ms / 60e3);
  return fmt::format("{:.0f} h", ms / 3600e3);
}

}  // namespace placeto
