// Tokens of a JSON text with their places. JsonScanner is private to tools/io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

class JsonScanner {
 public:
  // No string may be longer than so many bytes.
  explicit JsonScanner(std::string_view text, size_t most_string_bytes = size_t{1} << 20);

  size_t offset() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // The next character after white space, not consumed; '\0' at the end of the text.
  char peek();
  // Consumes the character if it is the next one after white space.
  bool accept(char c);

  bool accept_word(std::string_view word);

  // What stands at the current place, for messages: "'tru...'", "the end of the file", ...
  std::string found() const;
  // "line L, column C" of an offset; columns count bytes from 1.
  std::string line_of(size_t offset) const;

  // Reads a string, which is next, into `out`, escapes resolved. Empty message on success, else
  // what is wrong at offset().
  std::string read_string(std::string& out);
  // Reads a number, which is next, and returns its text, which follows the grammar of JSON; empty
  // if there is none.
  std::string_view read_number();
  // Reads over any value; false if the text ends before it does. Checks nothing else.
  bool skip_value();

 private:
  std::string read_escape(std::string& out);
  bool read_hex(uint32_t& unit);
  size_t skip_digits(size_t i) const;
  bool skip_string();
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  size_t most_string_bytes_, at_ = 0;
};

// Whether a text that is not a binary file could be JSON: its first character, after a byte order
// mark and white space, is '{'.
bool looks_like_json(std::string_view text);

}  // namespace placeto
