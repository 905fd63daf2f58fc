#include "tools/io/json_scanner.h"

#include <algorithm>
#include <cstdint>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"
#include "tools/io/byte_order_mark.h"

namespace placeto {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, uint32_t code) {
  const auto add = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | (code >> 6));
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3f));
    add(0x80 | ((code >> 6) & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

}  // namespace

JsonScanner::JsonScanner(std::string_view text, size_t most_string_bytes)
    : text_(text), most_string_bytes_(most_string_bytes) {
  at_ = text.size() - without_byte_order_mark(text).size();
}

char JsonScanner::peek() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  return at(at_);
}

bool JsonScanner::accept(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::accept_word(std::string_view word) {
  peek();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::string JsonScanner::found() const {
  if (at_ >= text_.size()) return "the end of the text";
  size_t end = at_ + 1;
  const auto is_word = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || c == '+';
  };
  if (text_[at_] == '"') {
    while (end < text_.size() && end < at_ + 24 && text_[end] != '"' && text_[end] != '\n') ++end;
    if (at(end) == '"') ++end;
  } else if (is_word(text_[at_])) {
    while (end < text_.size() && end < at_ + 32 && is_word(text_[end])) ++end;
  } else {
    while (end < text_.size() && (text_[end] & 0xc0) == 0x80) ++end;  // the whole character
  }
  return in_quotes(text_.substr(at_, end - at_));
}

std::string JsonScanner::line_of(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string JsonScanner::read_string(std::string& out) {
  out.clear();
  ++at_;  // the opening quote
  while (true) {
    const size_t start = at_;
    const size_t end =
        std::min(text_.size(), start + (most_string_bytes_ - out.size()) + 1);  // enough to tell
    while (at_ < end && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20) {
      ++at_;
    }
    if (out.size() + (at_ - start) > most_string_bytes_) {
      return "string is longer than " + bytes_text(most_string_bytes_) + ", expected at most that";
    }
    const std::string_view plain = text_.substr(start, at_ - start);
    if (const size_t valid = valid_utf8_prefix(plain); valid != plain.size()) {
      at_ = start + valid;
      return "byte that is not UTF-8, expected text in UTF-8";
    }
    out.append(plain);
    if (at_ >= text_.size()) return "found the end of the text, expected '\"' to end a string";
    if (text_[at_] == '"') {
      ++at_;
      return {};
    }
    if (text_[at_] != '\\') {
      return "found " + found() + " in a string, expected control characters escaped, e.g. \\n";
    }
    if (std::string wrong = read_escape(out); !wrong.empty()) return wrong;
  }
}

bool JsonScanner::read_hex(uint32_t& unit) {
  unit = 0;
  for (size_t i = at_; i < at_ + 4; ++i) {
    const char c = at(i);
    uint32_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<uint32_t>(c - 'A' + 10);
    } else {
      return false;
    }
    unit = unit * 16 + digit;
  }
  at_ += 4;
  return true;
}

std::string JsonScanner::read_escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const size_t start = at_;
  const auto wrong = [this, start](const char* message) {
    at_ = start;
    return std::string(message);
  };
  const char name = at(++at_);
  ++at_;
  if (const size_t i = kNames.find(name); i != std::string_view::npos) {
    out += kMeanings[i];
    return {};
  }
  uint32_t code = 0;
  if (name != 'u' || !read_hex(code)) {
    return wrong("unknown escape, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
  }
  if (code == 0) return wrong("\\u0000, expected text without NUL characters");
  if (code >= 0xdc00 && code < 0xe000) {
    return wrong("second half of a surrogate pair without the first, expected a pair");
  }
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    const bool escaped = at(at_) == '\\' && at(at_ + 1) == 'u';
    if (escaped) at_ += 2;
    if (!escaped || !read_hex(low) || low < 0xdc00 || low >= 0xe000) {
      return wrong("first half of a surrogate pair without the second, expected a pair");
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
  return {};
}

size_t JsonScanner::skip_digits(size_t i) const {
  while (is_digit(at(i))) ++i;
  return i;
}

std::string_view JsonScanner::read_number() {
  size_t i = at_;
  if (at(i) == '-') ++i;
  const size_t digits = i;
  i = skip_digits(i);
  if (i == digits || (at(digits) == '0' && i > digits + 1)) return {};  // none, or a leading 0
  if (at(i) == '.') {
    const size_t fraction = ++i;
    i = skip_digits(i);
    if (i == fraction) return {};
  }
  if (at(i) == 'e' || at(i) == 'E') {
    ++i;
    if (at(i) == '+' || at(i) == '-') ++i;
    const size_t exponent = i;
    i = skip_digits(i);
    if (i == exponent) return {};
  }
  const std::string_view number = text_.substr(at_, i - at_);
  at_ = i;
  return number;
}

bool JsonScanner::skip_string() {
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return true;
    }
  }
  return false;
}

bool JsonScanner::skip_value() {
  size_t depth = 0;
  while (true) {
    const char c = peek();
    if (at_ >= text_.size()) return false;
    if (c == '"') {
      if (!skip_string()) return false;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
      continue;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return false;
      --depth;
      ++at_;
    } else if (c == ',' || c == ':') {
      if (depth == 0) return false;
      ++at_;
      continue;
    } else {
      while (at_ < text_.size() && !is_space(text_[at_]) &&
             std::string_view(",:[]{}\"").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
    }
    if (depth == 0) return true;
  }
}

bool looks_like_json(std::string_view text) {
  return JsonScanner(text).peek() == '{';
}

}  // namespace placeto
