#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tools/options/options.h"

namespace placeto::cli {
namespace {

// Where the second column starts; a name that is longer has it on the next line.
constexpr size_t kIndent = 2, kColumn = 28, kNarrowest = 30, kWidest = 100;
// Narrower than this there is no room for two columns: what an option does is below it.
constexpr size_t kTwoColumns = 60, kBelow = 6;

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

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string row(const std::string& name, const std::string& text, size_t width) {
  const size_t column = width < kTwoColumns ? kBelow : kColumn;
  std::string line = std::string(kIndent, ' ') + name;
  if (line.size() + 2 > column) {
    line += "\n" + std::string(column, ' ');
  } else {
    line.resize(column, ' ');
  }
  return line + wrapped(text, column, width) + "\n";
}

// A line for a shell: broken by backslashes where it is too wide, options beside their values.
std::string command_line(const std::string& text, size_t width) {
  constexpr size_t kContinued = 6, kBackslash = 2;
  if (text.size() <= width) return text;
  const size_t margin = text.find_first_not_of(' ');
  std::vector<std::string> units;
  for (size_t at = margin; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool is_value = !units.empty() && units.back()[0] == '-' && word[0] != '-' &&
                          units.back().find(' ') == std::string::npos;
    if (is_value) {
      units.back() += " " + word;
    } else {
      units.push_back(word);
    }
    at = std::min(text.find_first_not_of(' ', end), text.size());
  }
  std::string out;
  size_t column = width;
  for (const std::string& unit : units) {
    if (out.empty()) {
      out = std::string(margin, ' ') + unit;
      column = out.size();
    } else if (column + 1 + unit.size() + kBackslash > width) {
      out += " \\\n" + std::string(kContinued, ' ') + unit;
      column = kContinued + unit.size();
    } else {
      out += " " + unit;
      column += 1 + unit.size();
    }
  }
  return out;
}

// "  name   what it is" of a list, broken as options are; what continues it is indented as far.
std::string definition(const std::string& text, size_t width) {
  const std::vector<std::string> lines = split(text);
  if (std::all_of(lines.begin(), lines.end(), [&](const auto& l) { return l.size() <= width; })) {
    return text;  // as it was aligned
  }
  const size_t margin = text.find_first_not_of(' '), gap = text.find("  ", margin);
  std::string what;
  for (const std::string& line : split(text.substr(gap))) {
    what +=
        (what.empty() ? "" : " ") + line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }
  std::string shown = row(text.substr(margin, gap - margin), what, width);
  shown.pop_back();
  return shown;
}

// Paragraphs, which are broken anew; between them, indented, command lines and lists.
std::string footer_text(const std::string& text, size_t width) {
  enum : uint8_t { kProse, kCommand, kDefinition } kind = kProse;
  std::string out, open;  // what the next line may continue
  const auto close = [&] {
    if (open.empty()) return;
    out += kind == kProse     ? wrapped(open, 0, width)
           : kind == kCommand ? command_line(open, width)
                              : definition(open, width);
    out += "\n";
    open.clear();
  };
  for (const std::string& line : split(text)) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (open.ends_with(" \\")) {  // a command of several lines
      open.resize(open.size() - 1);
      open += line.substr(indent);
    } else if (kind == kDefinition && indent > kIndent && !open.empty()) {
      open += "\n" + line;
    } else if (kind == kProse && indent == 0 && !line.empty() && !open.empty() &&
               !open.ends_with(':')) {
      open += " " + line;
    } else {
      close();
      const bool is_list = indent > 0 && line.find("  ", indent) != std::string::npos;
      kind = is_list ? kDefinition : indent > 0 ? kCommand : kProse;
      open = line;
      if (line.empty()) out += "\n";
    }
  }
  close();
  return out;
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
  return text + (others ? " [OPTIONS]" : "");
}

size_t limited(size_t columns) {
  return std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool terminal_has_color() {
  const char* wish = std::getenv("NO_COLOR");  // set to anything but nothing
  return isatty(STDOUT_FILENO) == 1 && (wish == nullptr || wish[0] == '\0');
}

size_t help_columns() {
  const size_t columns = terminal_columns();
  return columns == 0 ? 80 : columns;
}

std::string help_text(const Program& program, size_t columns) {
  const size_t width = limited(columns);
  const std::deque<Option>& own = program.main().options();
  std::string text = wrapped(program.summary(), 0, width) + "\n\nUsage: " + program.name() +
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
  return text + "\n" + footer_text(program.footer(), width);
}

std::string help_text(const Program& program, const Command& command, size_t columns) {
  const size_t width = limited(columns);
  std::string text = wrapped(command.summary(), 0, width) + "\n\n" +
                     wrapped(usage(program, command), 0, width) + "\n";
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
  return command.footer().empty() ? text : text + "\n" + footer_text(command.footer(), width);
}

}  // namespace placeto::cli
