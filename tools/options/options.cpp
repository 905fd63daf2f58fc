#include "tools/options/options.h"

#include <algorithm>
#include <utility>

#include "tools/options/units.h"

namespace placeto::cli {
namespace {

// Digits of a bound, as a person would write them.
std::string shown(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

template <class Number>
std::string check_count(const std::string& text, Number& target, uint64_t min, uint64_t max) {
  uint64_t value = 0;
  if (parse_large_count(text, value) && value >= min && value <= max) {
    target = static_cast<Number>(value);
    return "";
  }
  std::string wanted = "'" + text + "' is not a whole number";
  if (max != std::numeric_limits<uint64_t>::max()) {
    return wanted + " from " + std::to_string(min) + " to " + std::to_string(max);
  }
  if (min > 0) wanted += " of at least " + std::to_string(min);
  return wanted + " below 2^64, such as 1000, 100k or 1e5";
}

}  // namespace

Option& Command::add(const std::string& names, const std::string& value, const std::string& help) {
  Option& option = options_.emplace_back();
  const size_t comma = names.find(',');
  option.name = names;
  if (comma != std::string::npos) {  // "-t,--topology" and "--topology,-t" alike
    const bool first_is_long = names.starts_with("--");
    option.name = first_is_long ? names.substr(0, comma) : names.substr(comma + 1);
    option.letter = first_is_long ? names.back() : names[1];
  }
  option.value = value;
  // "gpu:0=cuda" names no file, but "cpu=profile.json" does.
  option.takes_file = value.find('=') == std::string::npos || value.ends_with("=FILE");
  option.help = help;
  option.heading = heading_;
  option.needs = needs_;
  return option;
}

static std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

Option& Option::checked_by(std::function<std::string(const std::string&)> problem_of) {
  set = [store = std::move(set), problem_of = std::move(problem_of),
         is_list = is_comma_list](const std::string& text) {
    const auto values = is_list ? split_list(text) : std::vector<std::string>{text};
    for (const std::string& given : values) {
      if (std::string problem = problem_of(given); !problem.empty()) return problem;
    }
    return store(text);
  };
  return *this;
}

Option& Command::custom(const std::string& names, const std::string& value, const std::string& help,
                        std::function<std::string(const std::string&)> set) {
  Option& option = add(names, value, help);
  option.set = std::move(set);
  return option;
}

Option& Command::argument(const std::string& name, std::string& target, const std::string& help) {
  return option(name, name, target, help);
}

Option& Command::arguments(const std::string& name, std::vector<std::string>& target,
                           const std::string& help) {
  return list(name, name, target, help);
}

Option& Command::option(const std::string& names, const std::string& value, std::string& target,
                        const std::string& help) {
  return custom(names, value, help, [&target](const std::string& text) {
    target = text;
    return std::string();
  });
}

Option& Command::flag(const std::string& names, bool& target, const std::string& help) {
  return custom(names, "", help, [&target](const std::string&) {
    target = true;
    return std::string();
  });
}

Option& Command::list(const std::string& names, const std::string& value,
                      std::vector<std::string>& target, const std::string& help) {
  Option& option =
      custom(names, value, help, [&target, is_first = true](const std::string& text) mutable {
        if (std::exchange(is_first, false)) target.clear();
        target.push_back(text);
        return std::string();
      });
  option.is_repeatable = true;
  return option;
}

Option& Command::comma_list(const std::string& names, const std::string& value,
                            std::vector<std::string>& target, const std::string& help) {
  Option& option = custom(names, value, help, [&target](const std::string& text) {
    for (std::string& item : split_list(text)) target.push_back(std::move(item));
    return std::string();
  });
  option.is_repeatable = option.is_comma_list = true;
  option.takes_file = false;
  return option;
}

static Option& no_file(Option& option) {
  option.takes_file = false;
  return option;
}

// 0 and what nobody asks for stand for no number: none, or as something else says.
static std::string with_default(const std::string& help, uint64_t value, uint64_t max) {
  return value == 0 || value >= max ? help : help + " (default " + std::to_string(value) + ")";
}

Option& Command::count(const std::string& names, uint64_t& target, const std::string& help,
                       uint64_t min, uint64_t max) {
  const auto set = [&target, min, max](const std::string& text) {
    return check_count(text, target, min, max);
  };
  return no_file(custom(names, "N", with_default(help, target, max), set));
}

Option& Command::count(const std::string& names, uint32_t& target, const std::string& help,
                       uint32_t min, uint32_t max) {
  const auto set = [&target, min, max](const std::string& text) {
    return check_count(text, target, min, max);
  };
  return no_file(custom(names, "N", with_default(help, target, max), set));
}

template <class Number>
static std::function<std::string(const std::string&)> append_count(std::vector<Number>& target,
                                                                   Number min, Number max) {
  return [&target, min, max, is_first = true](const std::string& text) mutable {
    if (std::exchange(is_first, false)) target.clear();
    return check_count(text, target.emplace_back(), min, max);
  };
}

template <class Number>
static std::string with_defaults(const std::string& help, const std::vector<Number>& values) {
  std::string listed;
  for (const Number value : values) listed += " " + std::to_string(value);
  return listed.empty() ? help : help + " (default" + listed + ")";
}

Option& Command::counts(const std::string& names, std::vector<uint64_t>& target,
                        const std::string& help, uint64_t min, uint64_t max) {
  Option& option = custom(names, "N", with_defaults(help, target), append_count(target, min, max));
  option.is_repeatable = true;
  return no_file(option).several();
}

Option& Command::counts(const std::string& names, std::vector<uint32_t>& target,
                        const std::string& help, uint32_t min, uint32_t max) {
  Option& option = custom(names, "N", with_defaults(help, target), append_count(target, min, max));
  option.is_repeatable = true;
  return no_file(option).several();
}

Option& Command::rate(const std::string& names, double& target, const std::string& help,
                      double max) {
  return no_file(custom(names, "RATE", help, [&target, max](const std::string& text) {
    double value = 0;
    if (!parse_rate(text, value) || value < 1 || value > max) {
      return "'" + text + "' is not a rate in a second, such as 240e9, 240G or 240GB/s";
    }
    target = value;
    return std::string();
  }));
}

Option& Command::number(const std::string& names, double& target, const std::string& help,
                        double min, double max) {
  return no_file(custom(names, "X", help, [&target, min, max](const std::string& text) {
    double value = 0;
    const bool is_number = parse_large_number(text, value) || parse_share(text, value);
    if (!is_number || value < min || value > max) {
      return "'" + text + "' is not a number from " + shown(min) + " to " + shown(max);
    }
    target = value;
    return std::string();
  }));
}

Option& Command::share(const std::string& names, double& target, const std::string& help,
                       double max) {
  return no_file(custom(names, "SHARE", help, [&target, max](const std::string& text) {
    double value = 0;
    if (!parse_share(text, value) || value > max) {
      return "'" + text + "' is not a share up to " + shown(max) + ", such as 0.1 or 10%";
    }
    target = value;
    return std::string();
  }));
}

Option& Command::milliseconds(const std::string& names, double& target, const std::string& help) {
  return no_file(custom(names, "TIME", help, [&target](const std::string& text) {
    double value = 0;
    if (!parse_milliseconds(text, value) || value > 1e12) {
      return "'" + text + "' is not a time, such as 500 (milliseconds), 500ms or 2s";
    }
    target = value;
    return std::string();
  }));
}

const Option* Command::find(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

const Option* Command::find(char letter) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& o) { return o.letter == letter; });
  return found == options_.end() ? nullptr : &*found;
}

const Command* Program::find(std::string_view name) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [&](const Command& c) { return c.name() == name; });
  return found == commands_.end() ? nullptr : &*found;
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

}  // namespace placeto::cli
