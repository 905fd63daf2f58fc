// What people at a terminal are told while they wait.
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace placeto {

// One line, no longer than the terminal is wide, rewritten and taken off again. Where there is no
// terminal nothing is written.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* to = stderr);
  explicit StatusLine(std::same_as<bool> auto wanted)  // no text turns into a bool
      : StatusLine() {
    is_seen_ = is_seen_ && wanted;
  }
  explicit StatusLine(std::string_view text) : StatusLine() { show(text); }
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view text);
  void clear();
  // Whether anybody sees it.
  bool is_seen() const { return is_seen_; }

 private:
  std::FILE* to_;
  bool is_seen_, is_shown_ = false;
};

// "40 s", "12 min", "5 h": of what is left, nobody needs to know more.
std::string rough_time(double ms);

}  // namespace placeto
