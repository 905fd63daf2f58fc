#include <algorithm>
#include <set>

#include "tools/options/options.h"

namespace placeto::cli {
namespace {

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

// A word that can only be an option: a negative number is a bad value of the option before it.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

// Reads one command's words from left to right, and stops at the first that is wrong.
class Line {
 public:
  Line(const Command& command, const std::vector<std::string>& words, size_t next)
      : command_(command), words_(words), next_(next) {
    for (const Option& option : command.options()) {
      if (option.is_argument()) arguments_.push_back(&option);
    }
  }

  // Of what was read.
  const std::vector<std::string>& inputs() const { return inputs_; }

  // True if help is asked for.
  Result<bool> read() {
    bool only_arguments = false;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (!only_arguments && (word == "--help" || word == "-h")) return true;
      Status status;
      if (!only_arguments && word == "--") {
        only_arguments = true;
      } else if (!only_arguments && word.size() > 1 && word[0] == '-') {
        status = word[1] == '-' ? read_long(word) : read_letter(word);
      } else {
        status = read_argument(word);
      }
      if (!status.ok()) return status;
    }
    if (Status status = check_complete(); !status.ok()) return status;
    return false;
  }

 private:
  Status unknown(const std::string& name) const {
    return Status::invalid(name + ": " + command_.name() + " has no such option" +
                           suggestion(name, option_names(command_)));
  }

  // --name, --name VALUE or --name=VALUE
  Status read_long(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Option* option = command_.find(name);
    if (option == nullptr) return unknown(name);
    if (equals == std::string::npos) return read_value(*option, name);
    if (option->is_flag()) return Status::invalid(name + ": takes no value");
    return store_attached(*option, word, equals + 1);
  }

  // -t, -t VALUE or -tVALUE
  Status read_letter(const std::string& word) {
    const std::string name = word.substr(0, 2);
    const Option* option = command_.find(word[1]);
    if (option == nullptr) return unknown(word);
    if (word.size() == 2) return read_value(*option, name);
    if (option->is_flag()) return Status::invalid(name + ": takes no value");
    return store_attached(*option, word, word[2] == '=' ? 3 : 2);
  }

  // A value in the same word as the option, from `begin` on.
  Status store_attached(const Option& option, const std::string& word, size_t begin) {
    if (begin == word.size()) {
      return Status::invalid(quoted(word) + " is empty, expected a value");
    }
    return store(option, word.substr(begin));
  }

  Status read_value(const Option& option, const std::string& name) {
    if (option.is_flag()) return store(option, "");
    if (next_ == words_.size() || is_option(words_[next_])) {
      return Status::invalid(name + ": no value given, expected " + option.value);
    }
    do {
      if (words_[next_].empty()) return empty_after(name);
      if (Status s = store(option, words_[next_++]); !s.ok()) return s;
    } while (option.takes_list && next_ < words_.size() && !is_option(words_[next_]));
    return {};
  }

  Status read_argument(const std::string& word) {
    if (word.empty()) return empty_after(words_[next_ - 2]);
    if (next_argument_ == arguments_.size()) {
      return Status::invalid(quoted(word) + ": " + command_.name() + " takes no further argument");
    }
    const Option& argument = *arguments_[next_argument_];
    if (!argument.is_repeatable) ++next_argument_;
    return store(argument, word);
  }

  // Mostly a variable of a shell that is not set.
  static Status empty_after(const std::string& word) {
    return Status::invalid("the argument after " + quoted(word) + " is empty, expected a value");
  }

  Status store(const Option& option, const std::string& value) {
    const bool is_new = given_.insert(&option).second;
    if (!is_new && !option.is_repeatable && !option.is_flag()) {
      return Status::invalid(option.name + ": given twice");
    }
    const auto& choices = option.choices;
    if (!choices.empty() && option.only_choices &&
        std::find(choices.begin(), choices.end(), value) == choices.end()) {
      std::string all;
      for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
      return Status::invalid(option.name + ": " + quoted(value) + " is none of " + all +
                             suggestion(value, choices));
    }
    const bool is_proposed = std::find(choices.begin(), choices.end(), value) != choices.end();
    if (!option.is_flag() && option.takes_file && !option.writes_file && !is_proposed) {
      const bool is_named = option.value.ends_with("=FILE");  // KIND=FILE
      inputs_.push_back(is_named ? value.substr(value.find('=') + 1) : value);
    }
    const std::string wrong = option.set(value);
    return wrong.empty() ? Status() : Status::invalid(option.name + ": " + wrong);
  }

  Status check_complete() const {
    for (const Option& option : command_.options()) {
      const bool is_given = given_.contains(&option);
      if (option.is_required && !is_given) {
        const std::string what =
            option.is_argument() ? option.name : option.name + " " + option.value;
        return Status::invalid(command_.name() + ": " + what + " is missing");
      }
      if (is_given && !option.needs.empty() && !given_.contains(command_.find(option.needs))) {
        return Status::invalid(option.name + ": goes with " + option.needs + " only");
      }
      for (const std::string& other : option.excludes) {
        if (!is_given || !given_.contains(command_.find(other))) continue;
        return Status::invalid(option.name + ": does not go with " + other);
      }
    }
    return {};
  }

  const Command& command_;
  const std::vector<std::string>& words_;
  size_t next_;
  std::vector<const Option*> arguments_;
  size_t next_argument_ = 0;
  std::set<const Option*> given_;
  std::vector<std::string> inputs_;
};

Result<const Command*> find_command(const Program& program, const std::string& word) {
  if (const Command* command = program.find(word)) return command;
  if (word.empty()) {
    return Status::invalid("the argument after " + quoted(program.name()) +
                           " is empty, expected a command");
  }
  if (word[0] == '-' && !program.main().options().empty()) return &program.main();
  const bool is_option = word[0] == '-';
  const std::vector<std::string> own = {"--help", "--version"};
  const bool lacks_dashes = std::find(own.begin(), own.end(), "--" + word) != own.end();
  const std::string close = lacks_dashes
                                ? suggestion("--" + word, own)
                                : suggestion(word, is_option ? own : command_names(program));
  return Status::invalid((is_option ? "no option " : "no command ") + quoted(word) + close);
}

}  // namespace

Result<Request> parse(const Program& program, const std::vector<std::string>& line) {
  if (line.empty()) return Request{Request::kHelp, nullptr};
  const std::string& first = line[0];
  if (first == "--version" || first == "-V") return Request{Request::kVersion, nullptr};
  const bool asks_help = first == "help" || first == "--help" || first == "-h";
  if (asks_help && line.size() > 2) {
    return Status::invalid(quoted(line[2]) + ": " + first + " takes one command");
  }
  if (asks_help && (line.size() == 1 || line[1] == "help")) {
    return Request{Request::kHelp, nullptr};
  }
  const Result<const Command*> command = find_command(program, line[asks_help ? 1 : 0]);
  if (!command.ok()) return command.status();
  if (asks_help) return Request{Request::kHelp, *command};
  const bool is_main = *command == &program.main();
  Line words(**command, line, is_main ? 0 : 1);
  const Result<bool> help = words.read();
  if (!help.ok()) return help.status();
  if (*help && is_main) return Request{Request::kHelp, nullptr};
  return Request{*help ? Request::kHelp : Request::kRun, *command, words.inputs()};
}

}  // namespace placeto::cli
