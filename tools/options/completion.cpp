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

std::vector<std::string> command_names(const Program& program) {
  std::vector<std::string> names{"help"};
  for (const Command& command : program.commands()) names.push_back(command.name());
  return names;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names{"--help"};
  for (const Option& option : command.options()) {
    if (!option.is_argument()) names.push_back(option.name);
  }
  return names;
}

// Within single quotes of any of the shells: the first sentence, without what would end the string.
std::string plain(const std::string& help) {
  std::string text = help.substr(0, std::min(help.find('\n'), help.find(':')));
  std::erase_if(text, [](char c) { return c == '\'' || c == '[' || c == ']' || c == '\\'; });
  return text;
}

std::string bash(const Program& program) {
  const std::string function = "_" + program.name();
  std::string text =
      "# bash completion of " + program.name() + "\n" + function + "() {\n" +
      "  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n" +
      "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W '" +
      joined(command_names(program)) + "' -- \"$word\"))\n    return\n  fi\n" +
      "  case ${COMP_WORDS[1]} in\n";
  const std::string reply = " COMPREPLY=($(compgen ";
  for (const Command& command : program.commands()) {
    text += "    " + command.name() + ")\n      case $last in\n";
    for (const Option& option : command.options()) {
      if (option.is_argument() || option.choices.empty()) continue;
      std::string pattern = option.name;
      if (option.letter != 0) pattern += std::string("|-") + option.letter;
      text += "        " + pattern + ")" + reply + (option.only_choices ? "" : "-f ") + "-W '" +
              joined(option.choices) + "' -- \"$word\")); return ;;\n";
    }
    text += "      esac\n      if [[ $word == -* ]]; then" + reply + "-W '" +
            joined(option_names(command)) + "' -- \"$word\")); return; fi\n";
    for (const Option& option : command.options()) {
      if (!option.is_argument() || option.choices.empty()) continue;
      text += "     " + reply + (option.only_choices ? "" : "-f ") + "-W '" +
              joined(option.choices) + "' -- \"$word\")); return\n";
      break;
    }
    text += "      ;;\n";
  }
  return text + "    help)" + reply + "-W '" + joined(command_names(program)) +
         "' -- \"$word\")); return ;;\n  esac\n  COMPREPLY=($(compgen -f -- \"$word\"))\n}\n" +
         "complete -o filenames -F " + function + " " + program.name() + "\n";
}

// What _arguments of zsh proposes for a value.
std::string zsh_action(const Option& option) {
  if (option.choices.empty()) return "_files";
  const std::string words = "(" + joined(option.choices) + ")";
  if (option.only_choices) return words;
  return "{_alternative \"values:value:" + words + "\" \"files:file:_files\"}";
}

std::string zsh(const Program& program) {
  std::string text = "#compdef " + program.name() + "\n_" + program.name() + "() {\n" +
                     "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : program.commands()) {
    text += "      '" + command.name() + ":" + plain(command.summary()) + "'\n";
  }
  text += "    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  for (const Command& command : program.commands()) {
    text += "    " + command.name() + ")\n      shift words; (( CURRENT-- ))\n      _arguments";
    for (const Option& option : command.options()) {
      std::string rest = option.is_argument() ? (option.is_repeatable ? "*:" : ":") : "";
      if (!option.is_argument()) {
        rest = (option.is_repeatable ? "*" : "") + option.name + "[" + plain(option.help) + "]";
      }
      if (option.is_argument()) rest += option.name;
      if (!option.is_flag()) {
        rest += (option.is_argument() ? "" : ":" + option.value) + ":" + zsh_action(option);
      }
      text += " \\\n        '" + rest + "'";
    }
    text += " ;;\n";
  }
  return text + "  esac\n}\n_" + program.name() + " \"$@\"\n";
}

std::string fish(const Program& program) {
  const std::string start = "complete -c " + program.name();
  std::string text = "# fish completion of " + program.name() + "\n";
  for (const Command& command : program.commands()) {
    text += start + " -n __fish_use_subcommand -f -a " + command.name() + " -d '" +
            plain(command.summary()) + "'\n";
    const std::string within = start + " -n '__fish_seen_subcommand_from " + command.name() + "'";
    for (const Option& option : command.options()) {
      if (option.is_argument()) {
        if (!option.choices.empty()) text += within + " -a '" + joined(option.choices) + "'\n";
        continue;
      }
      text += within + " -l " + option.name.substr(2);
      if (option.letter != 0) text += std::string(" -s ") + option.letter;
      if (!option.is_flag())
        text += option.choices.empty() ? " -r" : option.only_choices ? " -x" : " -r";
      if (!option.choices.empty()) text += " -a '" + joined(option.choices) + "'";
      text += " -d '" + plain(option.help) + "'\n";
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
