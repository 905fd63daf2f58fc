#include "tools/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/base/message.h"

namespace placeto {
namespace {

constexpr size_t kBetween = 2;  // spaces between columns

struct Range {
  uint32_t first, last;
};

// Blocks of Unicode 15: marks that combine with the character before them, and what
// EastAsianWidth.txt calls W or F. Whole blocks: a table of names needs no more.
constexpr std::array<Range, 9> kZeroWidth{{{0x0300, 0x036f},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05bd},
                                           {0x0610, 0x061a},
                                           {0x064b, 0x065f},
                                           {0x200b, 0x200f},
                                           {0x20d0, 0x20f0},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f}}};
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115f},
                                      {0x2e80, 0x303e},
                                      {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},
                                      {0x1f300, 0x1faff},
                                      {0x20000, 0x3fffd}}};

template <size_t N>
bool within(const std::array<Range, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](Range r) { return code >= r.first && code <= r.last; });
}

size_t code_width(uint32_t code) {
  if (within(kZeroWidth, code)) return 0;
  return within(kWide, code) ? 2 : 1;
}

// One character of UTF-8 text: its code and how many bytes it took. A byte that starts no valid
// sequence is a character of its own, U+FFFD.
struct Character {
  uint32_t code;
  size_t bytes;
};

Character decode(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                                                      : 1;
  if (length == 1 || text.size() < length) return {0xfffd, 1};
  uint32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {0xfffd, 1};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return {code, length};
}

std::string padded(const std::string& text, size_t width, Align align) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return align == Align::kRight ? fill + text : text + fill;
}

std::string significant(double value, const char* unit) {
  if (value == 0) return std::string("0") + unit;
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 999.95   ? 0
                       : magnitude >= 99.995 ? 1
                       : magnitude >= 9.9995 ? 2
                                             : 3;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

// The longest beginning that takes at most `width` columns, but one character at least.
std::string_view beginning(std::string_view text, size_t width) {
  size_t bytes = 0, taken = 0;
  while (bytes < text.size()) {
    const Character c = decode(text.substr(bytes));
    if (bytes != 0 && taken + code_width(c.code) > width) break;
    taken += code_width(c.code);
    bytes += c.bytes;
  }
  return text.substr(0, bytes);
}

// Lines of at most `width` columns, the first of `first_width`; longer words are broken.
std::vector<std::string> folded(std::string_view text, size_t first_width, size_t width) {
  std::vector<std::string> lines(1);
  size_t left = first_width;
  const auto start_line = [&] {
    lines.emplace_back();
    left = width;
  };
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty()) {
      if (display_width(word) < left) {
        lines.back() += ' ';
        --left;
      } else {
        start_line();
      }
    }
    while (!word.empty()) {
      const std::string_view part = beginning(word, left);
      lines.back() += part;
      left -= std::min(left, display_width(part));
      word.remove_prefix(part.size());
      if (!word.empty()) start_line();
    }
  }
  return lines;
}

size_t columns_of_output = 0;
bool output_has_color = false;

std::string emphasized(std::string_view text, Emphasis emphasis, bool color) {
  // SGR parameters of ECMA-48 that every terminal knows and that read on light and dark.
  constexpr std::array<const char*, 5> kCodes{"", "1", "1;32", "31", "2"};
  if (!color || emphasis == Emphasis::kNone) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(emphasis)], text);
}

}  // namespace

void set_output_columns(size_t columns) {
  columns_of_output = columns;
}

size_t output_columns() {
  return columns_of_output;
}

void set_output_color(bool color) {
  output_has_color = color;
}

bool output_color() {
  return output_has_color;
}

// Titles may be names of devices.
Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = printable(column.title);
}

void Table::add_row(std::vector<std::string> cells, Emphasis emphasis) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), emphasis});
}

std::vector<size_t> Table::natural_widths() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const Row& row : rows_) {
    for (size_t c = 0; c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(row.cells[c]));
    }
  }
  return widths;
}

size_t Table::width() const {
  size_t sum = 0;
  for (const size_t width : natural_widths()) sum += width + kBetween;
  return sum - std::min(sum, kBetween);
}

std::vector<size_t> Table::least_widths(const std::vector<size_t>& natural) const {
  constexpr size_t kLeastText = 12, kLeastFolded = 24;
  std::vector<size_t> least = natural;
  for (size_t c = 0; c < least.size(); ++c) {
    if (columns_[c].align == Align::kRight) continue;  // digits are not left out
    const size_t text = columns_[c].folds ? kLeastFolded : kLeastText;
    least[c] = std::min(natural[c], std::max(text, display_width(columns_[c].title)));
  }
  return least;
}

// As few lines as the columns fit on at their least, and as wide there as there is room.
Table::Layout Table::layout_within(size_t columns) const {
  Layout layout{natural_widths(), {}, kBetween};
  std::vector<size_t>& widths = layout.widths;
  if (columns == 0) {
    layout.bands = {{0, columns_.size(), 0}};
    return layout;
  }
  constexpr size_t kIndent = 4;
  const std::vector<size_t> least = least_widths(widths);
  const size_t sum = std::accumulate(least.begin(), least.end(), size_t{0});
  if (sum + kBetween * (least.size() - 1) > columns && sum + least.size() - 1 <= columns) {
    layout.between = 1;  // rather than a second line
  }
  size_t used = 0;
  for (size_t c = 0; c < least.size(); ++c) {
    const size_t more = layout.between + least[c];
    if (c == 0 || used + more > columns) {
      layout.bands.push_back({c, c + 1, c == 0 ? 0 : kIndent});
      used = layout.bands.back().indent + least[c];
    } else {
      layout.bands.back().last = c + 1;
      used += more;
    }
  }
  for (const Band& band : layout.bands) {
    used = band.indent + layout.between * (band.last - band.first - 1);
    for (size_t c = band.first; c < band.last; ++c) used += widths[c];
    while (used > columns) {
      size_t widest = band.last;
      for (size_t c = band.first; c < band.last; ++c) {
        if (widths[c] <= least[c]) continue;
        if (widest == band.last || widths[c] > widths[widest]) widest = c;
      }
      if (widest == band.last) break;
      --widths[widest], --used;
    }
    if (used > columns) {  // one column is too wide even alone
      widths[band.first] = columns - std::min(columns, band.indent);
    }
  }
  return layout;
}

std::string Table::lines(const std::vector<std::string>& cells, const Band& band,
                         const Layout& layout, Emphasis emphasis, bool color) const {
  const std::vector<size_t>& widths = layout.widths;
  std::vector<std::vector<std::string>> parts;  // of each cell, from top to bottom
  size_t height = 1;
  for (size_t c = band.first; c < band.last; ++c) {
    const bool is_wide = display_width(cells[c]) > widths[c];
    if (is_wide && columns_[c].folds) {
      parts.push_back(folded(cells[c], widths[c], widths[c]));
    } else {
      parts.push_back({is_wide ? shortened(cells[c], widths[c]) : cells[c]});
    }
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    std::string line(band.indent, ' ');
    for (size_t c = band.first; c < band.last; ++c) {
      const std::vector<std::string>& part = parts[c - band.first];
      if (c != band.first) line.append(layout.between, ' ');
      line += padded(i < part.size() ? part[i] : "", widths[c], columns_[c].align);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    // A row is there even if nothing is in it; what was folded away from it need not be.
    if (line.empty() && band.first != 0) continue;
    text += emphasized(line, emphasis, color) + "\n";
  }
  return text;
}

std::string Table::render(bool color, size_t columns) const {
  const Layout layout = layout_within(columns);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool titled = std::any_of(titles.begin(), titles.end(),
                                  [](const std::string& title) { return !title.empty(); });
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells, Emphasis emphasis) {
    for (const Band& band : layout.bands) text += lines(cells, band, layout, emphasis, color);
  };
  if (titled) add(titles, Emphasis::kFaint);
  for (const Row& row : rows_) add(row.cells, row.emphasis);
  return text;
}

std::string emphasized(std::string_view text, Emphasis emphasis) {
  return emphasized(text, emphasis, output_has_color);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character c = decode(text);
    width += code_width(c.code);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const Character c = decode(text);
    const bool control = c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0) || c.code == 0xfffd;
    // U+202A..202E and U+2066..2069 reorder what follows them on the screen.
    const bool reorders =
        (c.code >= 0x202a && c.code <= 0x202e) || (c.code >= 0x2066 && c.code <= 0x2069);
    if (control || reorders) {
      clean += '?';
    } else {
      clean += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return clean;
}

std::string shortened(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 8);
  if (display_width(text) <= width) return std::string(text);
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = decode(rest).bytes;
    characters.push_back(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  std::string head, tail;
  size_t head_width = 0, tail_width = 0;
  for (size_t i = 0; i < characters.size(); ++i) {
    const size_t w = display_width(characters[i]);
    if (head_width + w > width / 2) break;
    head += characters[i];
    head_width += w;
  }
  for (size_t i = characters.size(); i-- > 0;) {
    const size_t w = display_width(characters[i]);
    if (head_width + 1 + tail_width + w > width) break;
    tail.insert(0, characters[i]);
    tail_width += w;
  }
  return head + "…" + tail;
}

std::string fitted(std::string_view text, size_t indent) {
  const size_t columns = output_columns();
  if (columns <= indent) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    if (display_width(line) <= columns) {
      out += line;
    } else {
      const std::vector<std::string> parts = folded(line, columns, columns - indent);
      for (size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) out += "\n" + std::string(indent, ' ');
        out += parts[i];
      }
    }
    if (text.empty()) break;
    out += '\n';
    text.remove_prefix(1);
  }
  return out;
}

std::string format_us(double us) {
  if (!std::isfinite(us)) return "-";
  const double size = std::fabs(us);
  if (us == 0) return "0 us";
  if (size < 0.99995e-6) return fmt::format("{:.3e} us", us);
  if (size < 0.99995e-3) return significant(us * 1e6, " ps");
  if (size < 0.99995) return significant(us * 1e3, " ns");
  if (size < 999.95) return significant(us, " us");
  if (size < 999.95e3) return significant(us / 1e3, " ms");
  if (size < 1e15) return significant(us / 1e6, " s");
  return fmt::format("{:.3e} s", us / 1e6);
}

std::string format_bytes(uint64_t bytes) {
  return bytes_text(bytes);
}

std::string format_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string format_si(double value) {
  if (!std::isfinite(value)) return "-";
  constexpr std::array<const char*, 6> kPrefixes{"", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  while (std::fabs(value) >= 999.95 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return significant(value, kPrefixes[prefix]);
}

}  // namespace placeto
