#include <algorithm>

#include "tools/options/options.h"

namespace placeto::cli {
namespace {

// Where the second column starts; a name that is longer has it on the next line.
constexpr size_t kIndent = 2, kColumn = 28, kNarrowest = 60, kWidest = 100;

// `text` broken between words at `width`, every line but the first indented. Lines of its own stay
// apart, and what continues one that starts with spaces starts with more.
std::string wrapped(const std::string& text, size_t margin, size_t width) {
  std::string out;
  size_t column = margin, indent = margin;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      const size_t next = text.find_first_not_of(' ', at + 1);
      const size_t inner = next == std::string::npos ? 0 : next - at - 1;
      out += "\n" + std::string(margin + inner, ' ');
      column = margin + inner;
      indent = inner == 0 ? margin : column + 2;
      at = std::min(next, text.size());
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const size_t length = end - at;
    const bool starts_line = out.empty() || out.back() == ' ';
    if (!starts_line && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!starts_line) {
      out += ' ';
      ++column;
    }
    out.append(text, at, length);
    column += length;
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return out;
}

std::string row(const std::string& name, const std::string& text, size_t width) {
  std::string line = std::string(kIndent, ' ') + name;
  if (line.size() + 2 > kColumn) {
    line += "\n" + std::string(kColumn, ' ');
  } else {
    line.resize(kColumn, ' ');
  }
  return line + wrapped(text, kColumn, width) + "\n";
}

std::string left_column(const Option& option) {
  if (option.is_argument()) return option.name + (option.is_repeatable ? "..." : "");
  std::string text = option.letter != 0 ? std::string("-") + option.letter + ", " : "    ";
  text += option.name;
  if (!option.is_flag()) text += " " + option.value + (option.takes_list ? "..." : "");
  return text;
}

std::string usage(const Program& program, const Command& command) {
  std::string text = "Usage: " + program.name() + " " + command.name();
  bool others = false;
  for (const Option& o : command.options()) {
    if (o.is_argument()) {
      const std::string name = left_column(o);
      text += o.is_required ? " " + name : " [" + name + "]";
    }
  }
  for (const Option& o : command.options()) {
    if (o.is_argument()) continue;
    if (o.is_required) text += " " + o.name + " " + o.value + (o.takes_list ? "..." : "");
    others = others || !o.is_required;
  }
  return text + (others ? " [OPTIONS]\n" : "\n");
}

size_t limited(size_t columns) {
  return std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace

std::string help_text(const Program& program, size_t columns) {
  const size_t width = limited(columns);
  const std::deque<Option>& own = program.main().options();
  std::string text = program.summary() + "\n\nUsage: " + program.name() +
                     (own.empty() ? " COMMAND [OPTIONS]\n" : " [COMMAND] [OPTIONS]\n");
  text += "\nCommands:\n";
  for (const Command& command : program.commands()) {
    text += row(command.name(), command.summary(), width);
  }
  text += "\nOptions:\n";
  for (const Option& o : own) text += row(left_column(o), o.help, width);
  text +=
      row("-h, --help", "This text; of a command: `" + program.name() + " help COMMAND`", width);
  text += row("-V, --version", "The version", width);
  return text + "\n" + program.footer() + "\n";
}

std::string help_text(const Program& program, const Command& command, size_t columns) {
  const size_t width = limited(columns);
  std::string text = command.summary() + "\n\n" + usage(program, command);
  std::vector<std::string> headings{""};  // arguments, then in the order they were given
  for (const Option& o : command.options()) {
    if (std::find(headings.begin(), headings.end(), o.heading) == headings.end()) {
      headings.push_back(o.heading);
    }
  }
  std::string arguments;
  for (const Option& o : command.options()) {
    if (o.is_argument()) arguments += row(left_column(o), o.help, width);
  }
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  for (const std::string& heading : headings) {
    text += "\n" + (heading.empty() ? "Options" : heading) + ":\n";
    for (const Option& o : command.options()) {
      if (o.is_argument() || o.heading != heading) continue;
      text += row(left_column(o), o.help, width);
    }
    if (heading.empty()) text += row("-h, --help", "This text", width);
  }
  return command.footer().empty() ? text : text + "\n" + command.footer() + "\n";
}

}  // namespace placeto::cli
