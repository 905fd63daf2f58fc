// Text for people: aligned tables and numbers with units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace placeto {

enum class Align : uint8_t { kLeft, kRight };
enum class Emphasis : uint8_t { kNone, kStrong, kGood, kBad, kFaint };

// The columns of the terminal that text is for, from here on; 0, as at the start, where it is for
// a file: then nothing is shortened or broken.
void set_output_columns(size_t columns);
size_t output_columns();
// Whether that terminal shows colours; not, as at the start.
void set_output_color(bool color);
bool output_color();

// A table whose columns line up in a fixed-width font. Cells may hold any UTF-8; control
// characters (a name may carry escape sequences) are shown as '?'.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    bool folds = false;  // where it is too wide: goes on in the next line, instead of being cut
  };

  explicit Table(std::vector<Column> columns);

  // Missing cells at the end are empty; cells beyond the last column are dropped.
  void add_row(std::vector<std::string> cells, Emphasis emphasis = Emphasis::kNone);

  // Titles first, unless all are empty. Every line ends with a newline and none with spaces.
  // Escape sequences only if `color`. No line is wider than `columns` (0: as wide as it takes):
  // the widest texts are cut in the middle or folded, and where that is not enough, the last
  // columns follow on a line of their own, of the titles and of each row.
  std::string render(bool color, size_t columns) const;
  std::string render() const { return render(output_color(), output_columns()); }
  // Of the widest line, when nothing is shortened.
  size_t width() const;

 private:
  // Columns [first, last) that share a line.
  struct Band {
    size_t first, last, indent;
  };
  struct Layout {
    std::vector<size_t> widths;
    std::vector<Band> bands;
    size_t between;  // spaces from column to column
  };
  struct Row {
    std::vector<std::string> cells;
    Emphasis emphasis;
  };
  std::vector<size_t> natural_widths() const;
  std::vector<size_t> least_widths(const std::vector<size_t>& natural) const;
  Layout layout_within(size_t columns) const;
  std::string lines(const std::vector<std::string>& cells, const Band& band, const Layout& layout,
                    Emphasis emphasis, bool color) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// `text` with the terminal's escape sequences for `emphasis` around it, if the output has colours.
std::string emphasized(std::string_view text, Emphasis emphasis);

// Columns that a terminal needs for the text: combining marks take none, East Asian wide
// characters and emoji two. Bytes that are not UTF-8 count one each.
size_t display_width(std::string_view text);

// The text with control characters (C0, C1, DEL) replaced by '?'.
std::string printable(std::string_view text);

// Cut in the middle to at most `width` columns (at least 8), with an ellipsis where it was cut.
std::string shortened(std::string_view text, size_t width);

// Every line broken between words where it is wider than the output is; `indent` spaces before what
// continues one.
std::string fitted(std::string_view text, size_t indent = 2);

// "417.2 us", "1.250 ms", "3.400 s", "250.0 ns", "1.500e-09 us": four significant digits at least;
// "-" if not finite.
std::string format_us(double us);
// "512 B", "1.50 KiB", "11.2 GiB".
std::string format_bytes(uint64_t bytes);
// "12,345,678".
std::string format_count(uint64_t count);
// Large numbers with a decimal prefix: "5.71 G".
std::string format_si(double value);

}  // namespace placeto
