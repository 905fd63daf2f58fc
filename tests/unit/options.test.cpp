#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tools/options/options.h"
#include "tools/options/units.h"

using namespace placeto;
using namespace placeto::cli;

namespace {

// A program with one command, `brew POT [--cups N] [-s FILE] [--hot] [--milk A,B] [--sugar X...]`.
struct Kettle {
  std::string pot, spout;
  uint64_t cups = 1;
  bool hot = false;
  std::vector<std::string> milk, sugar;
  double strength = 0, minutes = 0, flow = 0, ratio = 0;
  Program program{"kettle", "Makes tea.", "1.2"};

  Kettle() {
    Command& brew = program.add("brew", "Make some tea");
    brew.argument("POT", pot, "Where to make it").required();
    brew.count("--cups", cups, "How many", 1, 1'000'000);
    brew.option("-s,--spout", "FILE", spout, "Which spout").one_of({"left", "right"});
    brew.flag("--hot", hot, "Not cold").only_with("--cups");
    brew.comma_list("--milk", "A,B,...", milk, "Which milk");
    brew.list("--sugar", "X", sugar, "Which sugar").takes_list = true;
    brew.share("--strength", strength, "Of the tea", 1);
    brew.milliseconds("--time", minutes, "To wait");
    brew.rate("--flow", flow, "Of the spout", 1e12);
    brew.number("--ratio", ratio, "Of milk to tea", 0, 10);
    brew.action([] {});
    brew.footer(R"(Examples:
  kettle brew blue --cups 2
  kettle brew a-very-long-name --cups 20000 --spout left --milk cow,oat

Pots:
  blue    a large one, with a spout on either side, that
          holds more than anybody drinks
  white   a small one

Tea is made in the pot whose name is given first, and it takes as long as --time says; what is
poured is never poured back.)");
  }
  std::string wrong(const std::vector<std::string>& line) {
    const Result<Request> request = parse(program, line);
    return request.ok() ? "" : request.status().message();
  }
};

}  // namespace

TEST_CASE("a line sets what it names") {
  Kettle kettle;
  const auto request = parse(kettle.program, {"brew", "--cups=2k", "-sleft", "--sugar", "white",
                                              "brown", "--milk", "cow,oat", "--hot", "blue"});
  REQUIRE(request.ok());
  CHECK(request->what == Request::kRun);
  CHECK(request->command->name() == "brew");
  CHECK(kettle.pot == "blue");
  CHECK(kettle.cups == 2000);
  CHECK(kettle.spout == "left");
  CHECK(kettle.hot);
  CHECK(kettle.milk == std::vector<std::string>{"cow", "oat"});
  CHECK(kettle.sugar == std::vector<std::string>{"white", "brown"});
}

TEST_CASE("a line tells which files it names to be read") {
  std::string in, out, any;
  std::vector<std::string> tables;
  uint64_t cups = 0;
  Program program("kettle", "Makes tea.", "1.2");
  Command& brew = program.add("brew", "Make some tea");
  brew.argument("IN", in, "Water").required();
  brew.option("-o,--output", "FILE", out, "Tea").writes();
  brew.option("--leaves", "LEAVES", any, "Which leaves").proposes({"green", "black"});
  brew.list("--table", "KIND=FILE", tables, "What is known");
  brew.count("--cups", cups, "How many");
  const auto inputs = [&program](const std::vector<std::string>& line) {
    const auto request = parse(program, line);
    REQUIRE(request.ok());
    return request->inputs;
  };
  CHECK(inputs({"brew", "well", "-o", "pot", "--cups", "2", "--table", "a=x.csv", "--table=b=y=z",
                "--leaves", "own"}) == std::vector<std::string>{"well", "x.csv", "y=z", "own"});
  CHECK(inputs({"brew", "-", "--leaves", "green"}) == std::vector<std::string>{"-"});
}

TEST_CASE("after two dashes, and for a dash alone, a word is no option") {
  Kettle kettle;
  REQUIRE(parse(kettle.program, {"brew", "--", "--hot"}).ok());
  CHECK(kettle.pot == "--hot");
  CHECK(!kettle.hot);
  Kettle other;
  REQUIRE(parse(other.program, {"brew", "-"}).ok());
  CHECK(other.pot == "-");
}

TEST_CASE("the first thing that is wrong is what a message starts with") {
  CHECK(Kettle().wrong({"brew", "--cup", "3"}) ==
        "--cup: brew has no such option, did you mean '--cups'?");
  CHECK(Kettle().wrong({"bwer"}) == "no command 'bwer', did you mean 'brew'?");
  CHECK(Kettle().wrong({"steep"}) == "no command 'steep'");
  CHECK(Kettle().wrong({"brew", "-x"}) == "-x: brew has no such option");
  CHECK(Kettle().wrong({"brew"}) == "brew: POT is missing");
  CHECK(Kettle().wrong({"brew", "a", "b"}) == "'b': brew takes no further argument");
  CHECK(Kettle().wrong({"brew", "a", "--cups"}) == "--cups: no value given, expected N");
  CHECK(Kettle().wrong({"brew", "a", "--cups", "--hot"}) == "--cups: no value given, expected N");
  CHECK(Kettle().wrong({"brew", "a", "--cups", "0"}) ==
        "--cups: '0' is not a whole number from 1 to 1000000");
  CHECK(Kettle().wrong({"brew", "a", "--cups", "1", "--cups", "2"}) == "--cups: given twice");
  CHECK(Kettle().wrong({"brew", "a", "--hot=yes"}) == "--hot: takes no value");
  CHECK(Kettle().wrong({"brew", "a", "--hot"}) == "--hot: goes with --cups only");
  CHECK(Kettle().wrong({"brew", "a", "-s", "letf"}) ==
        "--spout: 'letf' is none of left, right, did you mean 'left'?");
  CHECK(Kettle().wrong({"brew", "a", "--cups="}) == "'--cups=' is empty, expected a value");
  CHECK(Kettle().wrong({"brew", "a", "-s="}) == "'-s=' is empty, expected a value");
  CHECK(Kettle().wrong({"brew", ""}) == "the argument after 'brew' is empty, expected a value");
}

TEST_CASE("a name is suggested whatever its case, among any number of names") {
  CHECK(suggestion("HEFT", {"heft", "etf"}) == ", did you mean 'heft'?");
  CHECK(suggestion("cpu+gp", {"CPU+GPU", "2xk80"}) == ", did you mean 'CPU+GPU'?");
  CHECK(suggestion("Brew", {"brew"}) == ", did you mean 'brew'?");
  CHECK(suggestion("dots", {"dot", "dotx", "dot"}) == ", did you mean 'dot' or 'dotx'?");
  CHECK(suggestion("foo", {"dot"}).empty());  // most of the letters are others
  CHECK(suggestion("dto", {"dot"}) == ", did you mean 'dot'?");
  CHECK(suggestion("steep", {"brew", std::string(4096, 's')}).empty());
}

TEST_CASE("rates take a unit, numbers and shares a percent sign") {
  Kettle kettle;
  REQUIRE(kettle.wrong({"brew", "a", "--flow", "240GB", "--ratio", "50%", "--strength", "99.9%"})
              .empty());
  CHECK(kettle.flow == 240e9);
  CHECK(kettle.ratio == 0.5);
  CHECK(kettle.strength == 0.999);
  for (const char* text : {"240e9", "240G", "240GB/s", "240 GB/s", "240GFLOPS"}) {
    double rate = 0;
    CHECK_MESSAGE((parse_rate(text, rate) && rate == 240e9), text);
  }
  CHECK(Kettle().wrong({"brew", "a", "--flow", "fast"}) ==
        "--flow: 'fast' is not a rate in a second, such as 240e9, 240G or 240GB/s");
}

TEST_CASE("help and version are found wherever they are asked for") {
  Kettle kettle;
  const auto asks = [&](const std::vector<std::string>& line) {
    const auto request = parse(kettle.program, line);
    REQUIRE(request.ok());
    return *request;
  };
  CHECK(asks({}).what == Request::kHelp);
  CHECK(asks({"help"}).command == nullptr);
  CHECK(asks({"help", "brew"}).command == kettle.program.find("brew"));
  CHECK(asks({"brew", "--hot", "-h"}).what == Request::kHelp);
  CHECK(asks({"-V"}).what == Request::kVersion);
  CHECK(asks({"--version"}).what == Request::kVersion);
}

TEST_CASE("help says what a count is if it is not given, where that is a number") {
  uint64_t cups = 3, least = 0, most = std::numeric_limits<uint64_t>::max();
  Program program("kettle", "Makes tea.", "1.2");
  Command& brew = program.add("brew", "Make some tea");
  brew.count("--cups", cups, "How many");
  brew.count("--least", least, "As few");
  brew.count("--most", most, "As many");
  std::vector<uint32_t> sizes = {100, 10'000}, none;
  brew.counts("--sizes", sizes, "How large", 1, 10'000);
  brew.counts("--others", none, "How others are", 1, 10'000);
  const std::string text = help_text(program, brew, 80);
  CHECK(text.find("How many (default 3)\n") != std::string::npos);
  CHECK(text.find("How large (default 100 10000)\n") != std::string::npos);
  CHECK(text.find("How others are\n") != std::string::npos);
  CHECK(text.find("As few\n") != std::string::npos);
  CHECK(text.find("As many\n") != std::string::npos);
}

TEST_CASE("options may need another one together") {
  uint64_t cups = 0, spoons = 0;
  bool hot = false;
  Program program("kettle", "Makes tea.", "1.2");
  Command& brew = program.add("brew", "Make some tea");
  brew.flag("--hot", hot, "Not cold");
  brew.needs("--hot");
  brew.count("--cups", cups, "How many");
  brew.needs("");
  brew.count("--spoons", spoons, "Of sugar");
  brew.action([] {});
  CHECK(parse(program, {"brew", "--hot", "--cups", "2"}).ok());
  CHECK(parse(program, {"brew", "--spoons", "2"}).ok());
  const auto alone = parse(program, {"brew", "--cups", "2"});
  CHECK(alone.status().message() == "--cups: goes with --hot only");
}

TEST_CASE("help shows every option and fits the terminal") {
  const Kettle kettle;
  const Command& brew = *kettle.program.find("brew");
  const std::string text = help_text(kettle.program, brew, 60);
  CHECK(text.find("Usage: kettle brew POT [OPTIONS]\n") != std::string::npos);
  CHECK(text.find("  -s, --spout FILE") != std::string::npos);
  CHECK(text.find("      --sugar X...") != std::string::npos);
  CHECK(text.find("\n  kettle brew blue --cups 2\n") != std::string::npos);
  CHECK(text.find("--spout left \\\n      --milk cow,oat") != std::string::npos);
  CHECK(text.find("\n  white   a small one\n") != std::string::npos);
  for (const size_t columns : {40, 60, 80}) {
    const std::string fitted = help_text(kettle.program, brew, columns);
    for (size_t begin = 0; begin < fitted.size();) {
      const size_t end = fitted.find('\n', begin);
      CHECK_MESSAGE(end - begin <= columns, fitted.substr(begin, end - begin));
      begin = end + 1;
    }
  }
}

TEST_CASE("completion knows every command, option and choice in every shell") {
  const Kettle kettle;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(kettle.program, shell);
    for (const char* word : {"brew", "spout", "cups", "left", "right"}) {
      CHECK_MESSAGE(script.find(word) != std::string::npos, shell << " " << word);
    }
  }
  CHECK(completion_script(kettle.program, "cmd") == "");
}

TEST_CASE("numbers are read as people write them") {
  uint64_t count = 0;
  double number = 0;
  for (const char* text : {"100000", "100k", "1e5", "0.1M"}) {
    CHECK_MESSAGE(parse_large_count(text, count), text);
    CHECK(count == 100'000);
  }
  CHECK((parse_large_count("18446744073709551615", count) && count == ~uint64_t{0}));
  CHECK((parse_share("10%", number) && number == doctest::Approx(0.1)));
  CHECK((parse_share("0.25", number) && number == 0.25));
  CHECK((parse_milliseconds("2s", number) && number == 2000));
  CHECK((parse_milliseconds("1.5 min", number) && number == 90'000));
  CHECK((parse_milliseconds("250us", number) && number == 0.25));
  CHECK((parse_milliseconds("40", number) && number == 40));
  CHECK((parse_rate("8GiB/s", number) && number == 0x1p33));
  CHECK((parse_rate("12GB", number) && number == 12e9));
  CHECK((parse_large_number("312T", number) && number == 312e12));
}

TEST_CASE("what is no plain number is refused in any unit") {
  uint64_t count = 0;
  double number = 0;
  for (const char* text :
       {"", "k", "-1", "+1", "1.5", "0x10", "nan", "inf", "1e999", "1kk", " 1"}) {
    CHECK_MESSAGE(!parse_large_count(text, count), text);
  }
  for (const char* text : {"", "%", "s", "-1", "nan", "inf", "1e999s", "1 2", "0x10", "1sec"}) {
    CHECK_MESSAGE(!parse_share(text, number), text);
    CHECK_MESSAGE(!parse_milliseconds(text, number), text);
    CHECK_MESSAGE(!parse_rate(text, number), text);
  }
}
