// Command lines as tables of options: what a command takes is described once, and parsing, help,
// suggestions for misspelt names and completion in shells all come from that.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace placeto::cli {

// An option, "--topology FILE", or an argument, which has a place instead of a name.
struct Option {
  std::string name;     // "--topology"; of an argument what the help calls it: "GRAPH"
  char letter = 0;      // 't' for -t; 0: none
  std::string value;    // what the help calls the value: "FILE"; empty: a flag, it takes none
  std::string help;     // a phrase; lines of its own start with spaces
  std::string heading;  // what it is listed under
  bool is_required = false;
  bool is_repeatable = false;         // an argument: takes all that are left
  bool takes_list = false;            // takes the words that follow, up to the next option
  std::vector<std::string> choices;   // the values there are; empty: any
  bool only_choices = true;           // or choices are what a shell proposes
  bool is_comma_list = false;         // values separated by commas
  bool takes_file = true;             // or of no value that is free a shell proposes files
  bool writes_file = false;           // that file is an output; else it is read
  std::string needs;                  // an option that has to be given, too
  std::vector<std::string> excludes;  // options that may not
  // Stores the value (of a flag: ""). Returns what is wrong with it, as in "'x' is not a number".
  std::function<std::string(const std::string&)> set;

  bool is_argument() const { return name[0] != '-'; }
  bool is_flag() const { return value.empty(); }

  Option& required() { return is_required = true, *this; }
  Option& one_of(std::vector<std::string> values) { return choices = std::move(values), *this; }
  Option& proposes(std::vector<std::string> values) {
    only_choices = false;
    return one_of(std::move(values));
  }
  // What is no file.
  Option& proposes_words(std::vector<std::string> values) {
    takes_file = false;
    return proposes(std::move(values));
  }
  // Stores a value only if this finds nothing wrong with it, or with any that a comma separates.
  Option& checked_by(std::function<std::string(const std::string&)> problem_of);
  Option& writes() { return writes_file = true, *this; }
  Option& only_with(std::string option) { return needs = std::move(option), *this; }
  Option& not_with(std::vector<std::string> options) {
    return excludes = std::move(options), *this;
  }
  Option& several() { return takes_list = true, *this; }
};

// A command's table. Targets are kept by reference: they outlive the command. The references that
// are returned stay valid.
class Command {
 public:
  Command(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}

  // In the order of the line. `names` of options: "-t,--topology" or "--topology".
  Option& argument(const std::string& name, std::string& target, const std::string& help);
  Option& arguments(const std::string& name, std::vector<std::string>& target,
                    const std::string& help);
  Option& option(const std::string& names, const std::string& value, std::string& target,
                 const std::string& help);
  Option& flag(const std::string& names, bool& target, const std::string& help);
  // May be given several times, a value each; with `takes_list` set, several values each. What is
  // given replaces what is in `target`.
  Option& list(const std::string& names, const std::string& value, std::vector<std::string>& target,
               const std::string& help);
  // Values separated by commas.
  Option& comma_list(const std::string& names, const std::string& value,
                     std::vector<std::string>& target, const std::string& help);
  // Whole numbers: 1000, 100k, 1e5. What is in `target` is said to be the default, unless it is 0.
  Option& count(const std::string& names, uint64_t& target, const std::string& help,
                uint64_t min = 0, uint64_t max = std::numeric_limits<uint64_t>::max());
  Option& count(const std::string& names, uint32_t& target, const std::string& help,
                uint32_t min = 0, uint32_t max = std::numeric_limits<uint32_t>::max());
  // Several of them.
  Option& counts(const std::string& names, std::vector<uint64_t>& target, const std::string& help,
                 uint64_t min = 0, uint64_t max = std::numeric_limits<uint64_t>::max());
  Option& counts(const std::string& names, std::vector<uint32_t>& target, const std::string& help,
                 uint32_t min = 0, uint32_t max = std::numeric_limits<uint32_t>::max());
  // What happens in a second, of at least 1: 312T, 240GB/s.
  Option& rate(const std::string& names, double& target, const std::string& help, double max);
  // Numbers that are not negative: 0.5, 50%, 312T, 1e12.
  Option& number(const std::string& names, double& target, const std::string& help, double min,
                 double max);
  // Shares: 0.1 or 10%.
  Option& share(const std::string& names, double& target, const std::string& help, double max);
  // Times, in milliseconds where no unit is given: 500, 2s, 1.5min.
  Option& milliseconds(const std::string& names, double& target, const std::string& help);
  // Anything else: `set` as in Option.
  Option& custom(const std::string& names, const std::string& value, const std::string& help,
                 std::function<std::string(const std::string&)> set);

  // Options that follow are listed under this heading; "": under "Options".
  void heading(std::string text) { heading_ = std::move(text); }
  // Options that follow need this one, too; "": none.
  void needs(std::string option) { needs_ = std::move(option); }
  // What the help ends with: examples, remarks.
  void footer(std::string text) { footer_ = std::move(text); }
  // What the command does, once its line is parsed.
  void action(std::function<void()> run) { run_ = std::move(run); }
  void run() const { run_(); }

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& footer() const { return footer_; }
  const std::deque<Option>& options() const { return options_; }
  const Option* find(std::string_view name) const;
  const Option* find(char letter) const;

 private:
  Option& add(const std::string& names, const std::string& value, const std::string& help);

  std::string name_, summary_, footer_, heading_, needs_;
  std::deque<Option> options_;
  std::function<void()> run_;
};

// A program and its commands.
class Program {
 public:
  Program(std::string name, std::string summary, std::string version)
      : version_(std::move(version)), main_(std::move(name), std::move(summary)) {}

  Command& add(std::string name, std::string summary) {
    return commands_.emplace_back(std::move(name), std::move(summary));
  }
  // What it does without the name of a command; nothing, unless options are added to it.
  Command& main() { return main_; }
  void footer(std::string text) { main_.footer(std::move(text)); }

  const std::string& name() const { return main_.name(); }
  const std::string& summary() const { return main_.summary(); }
  const std::string& version() const { return version_; }
  const std::string& footer() const { return main_.footer(); }
  const Command& main() const { return main_; }
  const std::deque<Command>& commands() const { return commands_; }
  const Command* find(std::string_view name) const;

 private:
  std::string version_;
  Command main_;
  std::deque<Command> commands_;
};

// What a line asks for. A program alone, `help`, --help and -h: help, of `command` if there is one.
struct Request {
  enum What : uint8_t { kRun, kHelp, kVersion } what = kHelp;
  const Command* command = nullptr;
  // The files that the line names to be read, as it names them: all that is given for options that
  // take a file and do not write it, but for what they propose.
  std::vector<std::string> inputs = {};
};

// Stores the values in the targets of the command that the line names. Fails with kInvalidArgument;
// the message starts with the word that is wrong. Nothing ran yet.
Result<Request> parse(const Program& program, const std::vector<std::string>& line);

// The width of the terminal that standard output is; 0 if it is none.
size_t terminal_columns();
// Whether standard output is a terminal and the user has nothing against colours (no-color.org).
bool terminal_has_color();
// That of help: 80 where there is no terminal.
size_t help_columns();

// For a terminal of that many columns.
std::string help_text(const Program& program, size_t columns);
std::string help_text(const Program& program, const Command& command, size_t columns);

// A script that completes the program's lines; "" if `shell` is none of bash, zsh and fish.
std::string completion_script(const Program& program, std::string_view shell);

// What the first word of a line may be: "help", or a command.
std::vector<std::string> command_names(const Program& program);
// "--help" and those of the command.
std::vector<std::string> option_names(const Command& command);

// ", did you mean 'place'?" if one or two of the names are like the word, whatever its case; else
// "".
std::string suggestion(std::string_view word, const std::vector<std::string>& names);

}  // namespace placeto::cli
