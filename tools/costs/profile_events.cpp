#include "tools/costs/profile_events.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/io/bounded_json.h"

namespace placeto {
namespace {

// ONNX Runtime writes names of nodes as they are, without escapes: for readers of JSON a quote in
// one ends the string, and "\b" is another character. Its events are told by their first words, and
// strings with such names by what stands before and behind them.
constexpr std::string_view kEngineEvent = "{\"cat\" : \"";
struct RawString {
  std::string_view before;
  bool (*ends)(std::string_view rest);  // which begins with a quote
};

bool starts_with_field(std::string_view rest) {
  if (!rest.starts_with("\",\"")) return false;
  rest.remove_prefix(3);
  const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  return end != 0 && end != rest.npos && rest.substr(end).starts_with("\" : ");
}

constexpr RawString kRawStrings[] = {
    {"\"name\" :", [](std::string_view rest) { return rest.starts_with("\",\"args\" : {"); }},
    {"\"parent_name\" : ",
     [](std::string_view rest) {
       return rest.starts_with("\"}},\n") || rest.starts_with("\"}}\n") || starts_with_field(rest);
     }},
};

std::string escaped(std::string_view raw) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : raw) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20) {
      (text += "\\u00") += {kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

class Reader {
 public:
  Reader(std::string_view text, size_t max_events) : text_(text), max_events_(max_events) {}

  Status run(const TakeEvent& take) {
    skip_space();
    if (peek() != '[') {
      return Status::bad_input(
          "does not begin with '[', expected a list of events as ONNX Runtime "
          "writes it");
    }
    ++at_;
    for (size_t i = 0;; ++i) {
      skip_space();
      if (peek() == ',') ++at_, skip_space();
      if (at_ >= text_.size() || peek() == ']') return {};
      if (i >= max_events_) {
        return Status::bad_input("has more than " + std::to_string(max_events_) + " events");
      }
      const size_t begin = at_;
      if (!skip_object()) {
        if (at_ >= text_.size() && i > 0) return {};  // cut off
        return bad_event(i, "is not an object, expected an event of a profile");
      }
      const auto event = parse_bounded<nlohmann::json>(read_since(begin), 100'000);
      if (!event.ok()) return bad_event(i, event.status().message());
      if (Status s = take(*event, i); !s.ok()) return s;
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  // With escapes where the engine left them out.
  std::string_view read_since(size_t begin) {
    if (raw_.empty()) return text_.substr(begin, at_ - begin);
    repaired_.clear();
    for (const auto& [from, to] : raw_) {
      repaired_ += text_.substr(begin, from - begin);
      repaired_ += escaped(text_.substr(from, to - from));
      begin = to;
    }
    return repaired_ += text_.substr(begin, at_ - begin);
  }
  // To the quote that ends a string without escapes, or to the end of the text; false if none such
  // begins here.
  bool skip_raw_string(size_t event) {
    const std::string_view before = text_.substr(event, at_ - event);
    for (const RawString& raw : kRawStrings) {
      if (!before.ends_with(raw.before)) continue;
      const size_t begin = at_ + 1;
      for (at_ = begin; (at_ = text_.find('"', at_)) != text_.npos; ++at_) {
        if (raw.ends(text_.substr(at_))) break;
      }
      at_ = std::min(at_, text_.size());
      raw_.emplace_back(begin, at_);
      return true;
    }
    return false;
  }
  // Over one object, by its braces; false if it does not end or is none.
  bool skip_object() {
    constexpr int kMaxDepth = 32;
    raw_.clear();
    if (peek() != '{') return false;
    const size_t begin = at_;
    const bool by_engine = text_.substr(at_).starts_with(kEngineEvent);
    int depth = 0;
    bool in_string = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_string) {
        if (c == '\\') ++at_;
        if (c == '"') in_string = false;
        continue;
      }
      if (c == '"' && by_engine && skip_raw_string(begin)) continue;
      if (c == '"') in_string = true;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth > kMaxDepth) return false;
      if (depth == 0) return ++at_, true;
    }
    return false;
  }

  std::string_view text_;
  size_t max_events_;
  size_t at_ = 0;
  std::vector<std::pair<size_t, size_t>> raw_;  // of the last object: strings without escapes
  std::string repaired_;
};

}  // namespace

Status bad_event(size_t i, const std::string& what) {
  return Status::bad_input("event " + std::to_string(i) + ": " + what);
}

Status for_each_event(std::string_view text, size_t max_events, const TakeEvent& take) {
  return Reader(text, max_events).run(take);
}

}  // namespace placeto
