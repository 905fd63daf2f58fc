#include "tools/report/table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

using namespace placeto;

TEST_CASE("a table aligns numbers to the right and text to the left") {
  Table table({{"method", Align::kLeft}, {"makespan", Align::kRight}});
  table.add_row({"heft", "9 us"});
  table.add_row({"contiguous", "12.50 ms"});
  CHECK(table.render() ==
        "method      makespan\n"
        "heft            9 us\n"
        "contiguous  12.50 ms\n");
}

TEST_CASE("a table has no escape sequences unless colour is asked for") {
  Table table({{"a", Align::kLeft}});
  table.add_row({"x"}, Emphasis::kGood);
  CHECK(table.render().find('\x1b') == std::string::npos);
  CHECK(table.render(true, 0).find("\x1b[1;32mx\x1b[0m") != std::string::npos);
}

TEST_CASE("a table without titles starts with its first row") {
  Table table({{"", Align::kLeft}, {"", Align::kLeft}});
  table.add_row({"nodes", "3"});
  CHECK(table.render() == "nodes  3\n");
}

namespace {

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    widest = std::max(widest, display_width(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("a table fits the terminal: the widest texts are cut in the middle, numbers never") {
  Table table({{"node"}, {"op"}, {"cost", Align::kRight}});
  table.add_row({"encoder/layer_11/attention/self/query/MatMul", "MatMul", "1234.5 us"});
  const std::string whole = table.render();
  CHECK(table.width() == widest_line(whole));
  CHECK(whole == table.render(false, 0));
  CHECK(whole == table.render(false, table.width()));
  CHECK(table.render(false, 40) ==
        "node                   op           cost\n"
        "encoder/la…ery/MatMul  MatMul  1234.5 us\n");
}

TEST_CASE("columns that do not fit beside the others follow on a line of their own") {
  Table table({{"device"}, {"busy", Align::kRight}, {"memory", Align::kRight}});
  table.add_row({"gpu:0", "1234.5 us", "11.2 GiB"});
  CHECK(table.render(false, 20) ==
        "device       busy\n"
        "      memory\n"
        "gpu:0   1234.5 us\n"
        "    11.2 GiB\n");
  for (size_t columns = 20; columns < 40; ++columns) {
    CHECK(widest_line(table.render(false, columns)) <= columns);
  }
}

TEST_CASE("a text that folds goes on below itself, and loses nothing") {
  Table table({{""}, {"", Align::kLeft, true}});
  table.add_row({"operators", "Conv 94, BatchNorm 94, Relu 94, 0123456789012345678901234567890"});
  CHECK(table.render(false, 36) ==
        "operators  Conv 94, BatchNorm 94,\n"
        "           Relu 94,\n"
        "           0123456789012345678901234\n"
        "           567890\n");
}

TEST_CASE("prose is broken between words where the output is narrow, and only there") {
  CHECK(fitted("waits for: gpu:0 computes 70%\nb\n") == "waits for: gpu:0 computes 70%\nb\n");
  set_output_columns(20);
  CHECK(fitted("waits for: gpu:0 computes 70%\nb\n") == "waits for: gpu:0\n  computes 70%\nb\n");
  set_output_columns(0);
}

TEST_CASE("wide and combining characters take their width on the screen") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("µs") == 2);
  CHECK(display_width("畳み込み") == 8);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("🚀") == 2);
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("\xe7\x95") == 2);  // a sequence cut short: one column per byte
  Table table({{"n", Align::kLeft}, {"v", Align::kRight}});
  table.add_row({"畳", "1"});
  table.add_row({"ab", "2"});
  CHECK(table.render() == "n   v\n畳  1\nab  2\n");
}

TEST_CASE("names cannot drive the terminal") {
  CHECK(printable("a\x1b[2Jb\n\x7f") == "a?[2Jb??");
  CHECK(printable("\u009b31m") == "?31m");
  CHECK(printable("abc\u202etxt") == "abc?txt");
  CHECK(printable("\xff") == "?");
  CHECK(printable("conv/π") == "conv/π");
}

TEST_CASE("long names are cut in the middle") {
  CHECK(shortened("short", 10) == "short");
  const std::string cut = shortened("mixed_5b/branch_1/conv/Relu", 13);
  CHECK(display_width(cut) == 13);
  CHECK(cut == "mixed_…v/Relu");
  CHECK(display_width(shortened("畳み込み畳み込み", 9)) <= 9);
}

TEST_CASE("times keep four digits and a fitting unit") {
  CHECK(format_us(0) == "0 us");
  CHECK(format_us(1.5) == "1.500 us");
  CHECK(format_us(417.25) == "417.2 us");
  CHECK(format_us(999.94) == "999.9 us");
  CHECK(format_us(999.96) == "1.000 ms");
  CHECK(format_us(1180000) == "1.180 s");
  CHECK(format_us(0.99996) == "1.000 us");
  CHECK(format_us(0.25) == "250.0 ns");
  CHECK(format_us(-0.25) == "-250.0 ns");
  CHECK(format_us(0.0004) == "400.0 ps");
  CHECK(format_us(1e-6) == "1.000 ps");
  CHECK(format_us(1.5e-9) == "1.500e-09 us");
  CHECK(format_us(1e-60) == "1.000e-60 us");
  CHECK(format_us(1e14) == "100000000 s");
  CHECK(format_us(1e60) == "1.000e+54 s");
  CHECK(format_us(std::numeric_limits<double>::infinity()) == "-");
  CHECK(format_us(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("bytes and counts are readable") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(12000000000) == "11.2 GiB");
  CHECK(format_bytes(0xffffffffffffffff) == "16.0 EiB");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_si(5.71e9) == "5.710 G");
}
