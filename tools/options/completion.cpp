// Scripts for shells, with everything in them: completing asks no program.
#include <algorithm>

#include "tools/options/options.h"

namespace placeto::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Within single quotes, where the shell writes one as `quote`: the first sentence, without what has
// a meaning there.
std::string plain(const std::string& help, const std::string& quote) {
  std::string text;
  for (const char c : help.substr(0, std::min(help.find('\n'), help.find(':')))) {
    if (c == '\'') text += quote;
    if (c != '\'' && c != '[' && c != ']' && c != '\\') text += c;
  }
  return text;
}
constexpr const char* kZshQuote = R"('\'')";
constexpr const char* kFishQuote = R"(\')";

// "-t|--topology", of which a line may have either.
std::string pattern_of(const Option& option) {
  return option.letter == 0 ? option.name : std::string("-") + option.letter + "|" + option.name;
}

// What a shell proposes, or files, or both.
bool proposes_files(const Option& option) {
  return option.choices.empty() ? option.takes_file : !option.only_choices && option.takes_file;
}

// Calls of the functions below, which read the word from $word.
std::string bash_values(const Option& option) {
  const std::string words = " '" + joined(option.choices) + "'";
  if (option.is_comma_list) return "_list" + words;
  return (proposes_files(option) ? "_files" : "_words") + words;
}

// A line as bash hands it out has "--topology=2" in three words where '=' breaks words, or in one.
constexpr const char* kBashStart = R"(
  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} before='' open
  local at=$((COMP_CWORD - 1))
  COMPREPLY=()
  while (( at > 1 )) && [[ ${COMP_WORDS[at]} != -?* ]]; do (( at-- )); done
  open=${COMP_WORDS[at]%%=*}
  if [[ $word == --*=* ]]; then
    last=${word%%=*} open=${word%%=*} before=${word%%=*}= word=${word#*=}
  elif [[ $word == = ]]; then
    word=
  elif [[ $last == = ]]; then
    last=${COMP_WORDS[COMP_CWORD-2]}
  fi
)";

std::string bash_functions(const std::string& function) {
  return function + "_words() { COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"$word\")); }\n" +
         function +
         "_files() { COMPREPLY=($(compgen -P \"$before\" -f -W \"$1\" -- \"$word\")); }\n" +
         function + "_list() {\n" +
         "  if [[ $word == *,* ]]; then before+=${word%,*}, word=${word##*,}; fi\n  " + function +
         "_words \"$1\"\n}\n";
}

std::string bash(const Program& program) {
  const std::string function = "_" + program.name();
  const auto call = [&](const std::string& values) { return function + values + "; return"; };
  std::string text = "# bash completion of " + program.name() + "\n" + bash_functions(function) +
                     function + "() {" + kBashStart + "  if [ \"$COMP_CWORD\" = 1 ]; then\n" +
                     "    " +
                     call("_words '" + joined(command_names(program)) + " --help --version'") +
                     "\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : program.commands()) {
    std::string lasts, opens, argument = function + "_files ''";
    for (const Option& option : command.options()) {
      if (option.is_argument() || option.is_flag()) continue;
      const std::string branch =
          "        " + pattern_of(option) + ") " + call(bash_values(option)) + " ;;\n";
      (option.takes_list ? opens : lasts) += branch;
    }
    for (const Option& option : command.options()) {
      if (!option.is_argument()) continue;
      argument = function + bash_values(option);
      break;
    }
    text += "    " + command.name() + ")\n      case $last in\n" + lasts + "      esac\n" +
            "      if [[ $word == -* && -z $before ]]; then " +
            call("_words '" + joined(option_names(command)) + "'") + "; fi\n      case $open in\n" +
            opens + "      esac\n      " + argument + "; return ;;\n";
  }
  return text + "    help) " + call("_words '" + joined(command_names(program)) + "'") +
         " ;;\n  esac\n  " + function + "_files ''\n}\n" + "complete -o filenames -F " + function +
         " " + program.name() + "\n";
}

// What _arguments of zsh proposes for a value.
std::string zsh_action(const Option& option) {
  if (option.choices.empty()) return option.takes_file ? "_files" : " ";
  const std::string words = joined(option.choices);
  if (option.is_comma_list) return "{_values -s , value " + words + "}";
  if (!proposes_files(option)) return "(" + words + ")";
  return "{_alternative \"values:value:(" + words + ")\" \"files:file:_files\"}";
}

// An option in both of its forms, of which a line has one.
std::string zsh_option(const Option& option) {
  const std::string value = option.is_flag() ? "" : ":" + option.value + ":" + zsh_action(option);
  const std::string rest = "[" + plain(option.help, kZshQuote) + "]" + value + "'";
  const std::string name = option.name + (option.is_flag() ? "" : "=");
  const std::string letter = std::string("-") + option.letter + (option.is_flag() ? "" : "+");
  if (option.letter == 0) return (option.is_repeatable ? "'*" : "'") + name + rest;
  const std::string either =
      option.is_repeatable ? "*" : std::string("(-") + option.letter + " " + option.name + ")";
  return "'" + either + "'{" + letter + "," + name + "}'" + rest;
}

std::string zsh(const Program& program) {
  std::string text = "#compdef " + program.name() + "\n_" + program.name() + "() {\n" +
                     "  if (( CURRENT == 2 )); then\n    local -a commands=(\n" +
                     "      'help:Explain a command'\n";
  for (const Command& command : program.commands()) {
    text += "      '" + command.name() + ":" + plain(command.summary(), kZshQuote) + "'\n";
  }
  text += "    )\n    _describe command commands\n    compadd -- --help --version\n    return\n" +
          std::string("  fi\n  case $words[2] in\n");
  for (const Command& command : program.commands()) {
    text += "    " + command.name() + ")\n      shift words; (( CURRENT-- ))\n      _arguments" +
            " \\\n        '(-h --help)'{-h,--help}'[This text]'";
    for (const Option& option : command.options()) {
      text += " \\\n        ";
      if (!option.is_argument()) {
        text += zsh_option(option);
        continue;
      }
      text += std::string("'") + (option.is_repeatable ? "*:" : ":") + option.name + ":" +
              zsh_action(option) + "'";
    }
    text += " ;;\n";
  }
  return text + "    help) compadd -- " + joined(command_names(program)) + " ;;\n  esac\n}\n_" +
         program.name() + " \"$@\"\n";
}

std::string fish(const Program& program) {
  const std::string start = "complete -c " + program.name();
  std::string text = "# fish completion of " + program.name() + "\n" + start +
                     " -n __fish_use_subcommand -f -a help -d 'Explain a command'\n";
  for (const Command& command : program.commands()) {
    text += start + " -n __fish_use_subcommand -f -a " + command.name() + " -d '" +
            plain(command.summary(), kFishQuote) + "'\n";
    const std::string within = start + " -n '__fish_seen_subcommand_from " + command.name() + "'";
    for (const Option& option : command.options()) {
      if (option.is_argument()) {
        if (option.choices.empty()) continue;
        text += within + (proposes_files(option) ? "" : " -f") + " -a '" + joined(option.choices) +
                "'\n";
        continue;
      }
      text += within + " -l " + option.name.substr(2);
      if (option.letter != 0) text += std::string(" -s ") + option.letter;
      if (!option.is_flag()) text += proposes_files(option) ? " -r" : " -x";
      if (!option.choices.empty()) text += " -a '" + joined(option.choices) + "'";
      text += " -d '" + plain(option.help, kFishQuote) + "'\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const Program& program, std::string_view shell) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  return "";
}

}  // namespace placeto::cli
