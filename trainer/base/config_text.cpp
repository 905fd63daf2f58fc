// Configurations as text.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tools/io/shipped.h"
#include "trainer/base/config.h"
#include "trainer/base/config_keys.h"

namespace placeto::train {
namespace {

// A basic string of TOML.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

struct ValueText {
  std::string operator()(const uint32_t* v) const { return std::to_string(*v); }
  std::string operator()(const uint64_t* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return fmt::format("{}", *v); }
  std::string operator()(const std::string* v) const { return quoted(*v); }
  std::string operator()(const std::vector<uint32_t>* v) const {
    return fmt::format("[{}]", fmt::join(*v, ", "));
  }
  std::string operator()(const std::vector<std::string>* v) const {
    std::vector<std::string> all;
    for (const std::string& text : *v) all.push_back(quoted(text));
    return fmt::format("[{}]", fmt::join(all, ", "));
  }
};

// A comment that says which keys may change while a run goes on.
std::string names_that_may_change() {
  constexpr size_t kWidth = 100;
  std::string text,
      line = "# A run that continues may have other values of these, and of nothing else:";
  for (const ConfigKey& key : config_keys()) {
    if (!key.may_change) continue;
    const std::string name = " " + full_name(key) + ",";
    if (line.size() + name.size() > kWidth) text += std::exchange(line, "#") + "\n";
    line += name;
  }
  line.pop_back();
  return text + line + "\n";
}

// A comment beside `line`, in as many lines as it takes.
std::string with_comment(std::string line, std::string_view comment) {
  constexpr size_t kColumn = 30, kWidth = 100;
  while (!comment.empty()) {
    line.resize(std::max(line.size() + 2, line.rfind('\n') + 1 + kColumn), ' ');
    const size_t room = kWidth - (line.size() - (line.rfind('\n') + 1)) - 2;
    const size_t cut = comment.size() <= room ? comment.size() : comment.rfind(' ', room);
    line += "# " + std::string(comment.substr(0, cut));
    comment.remove_prefix(std::min(comment.size(), cut + 1));
    if (!comment.empty()) line += "\n";
  }
  return line + "\n";
}

// The keys that `is_wanted`, with their values.
template <class IsWanted>
std::string text_of(Config config, const IsWanted& is_wanted) {
  std::string text, section;
  for (const ConfigKey& key : config_keys()) {
    if (!is_wanted(key)) continue;
    if (section != key.section) {
      section = key.section;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += fmt::format("{} = {}\n", key.name, std::visit(ValueText(), key.slot(config)));
  }
  return text;
}

}  // namespace

std::string default_config_text() {
  std::vector<std::string> own_defaults;  // algorithms that have some
  for (const AlgorithmInfo& algorithm : algorithms()) {
    if (algorithm.set_defaults != nullptr) own_defaults.emplace_back(algorithm.name);
  }
  std::string text =
      "# A training run of placeto-train. Every key may be left out; the values here are the "
      "defaults.\n# A key behind a # is not read by every run, and refused by those that do not "
      "read it, or it has\n# another default for the algorithm " +
      fmt::format("{}", fmt::join(own_defaults, " or ")) + ".\n";
  text += names_that_may_change() + "\n";
  Config config;
  std::string section;
  for (const ConfigKey& key : config_keys()) {
    if (section != key.section) {
      section = key.section;
      const auto sections = config_sections();
      const auto at = std::find_if(sections.begin(), sections.end(),
                                   [&](const ConfigSection& s) { return section == s.name; });
      text += fmt::format("\n[{}]  # {}\n", section, at->meaning);
    }
    const std::string value = std::visit(ValueText(), key.slot(config));
    std::string meaning = key.meaning;
    bool is_for_all = key.readers == &kAnyRun;
    for (const std::string& name : own_defaults) {
      Config own = default_config(name);
      const std::string other = std::visit(ValueText(), key.slot(own));
      if (value == other) continue;
      meaning += fmt::format("{}{}: {}", meaning.empty() ? "" : "; ", name, other);
      is_for_all = false;
    }
    text +=
        with_comment(fmt::format("{}{} = {}", is_for_all ? "" : "# ", key.name, value), meaning);
  }
  return text;
}

std::string config_text(const Config& config) {
  return text_of(config, [](const ConfigKey&) { return true; });
}

std::string text_for_others(const Config& config, std::string_view text) {
  Config named = config;
  bool had_folders = false;
  const auto leave_folder_out = [&had_folders](std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    had_folders |= name != path;
    path = name;
  };
  for (std::string& path : named.data.graphs) leave_folder_out(path);
  for (std::string& path : named.data.topologies) leave_folder_out(path);
  leave_folder_out(named.learn.start);
  if (!had_folders) return std::string(text);
  return text_of(named, [&](const ConfigKey& key) {
    const std::string name = full_name(key);
    return name != "threads" && config.origin.lines.contains(name);
  });
}

std::string changed_setting(const Config& began, const Config& now) {
  Config before = began, after = now;  // slots are to be written to
  for (const ConfigKey& key : config_keys()) {
    const std::string was = std::visit(ValueText(), key.slot(before));
    const std::string is = std::visit(ValueText(), key.slot(after));
    const bool differs = key.may_change ? (was == "[]") != (is == "[]") : was != is;
    if (!differs) continue;
    return fmt::format("{} is {}, the run began with {}", full_name(key), is, was);
  }
  return "";
}

std::string own_config_text(const std::vector<std::string>& graphs,
                            const std::vector<std::string>& topologies) {
  const auto absolute = [](std::vector<std::string> paths) {
    for (std::string& path : paths) path = std::filesystem::absolute(path).string();
    return paths;
  };
  const std::vector<std::string> graph_paths = absolute(graphs);
  std::vector<std::string> others = topologies;
  for (std::string& path : others) {
    if (!shipped::is_topology(path)) path = std::filesystem::absolute(path).string();
  }
  return fmt::format(
      R"(# The shipped policy, which learns to leap to good placements of graphs of one's own.
algorithm = "leaps"
iterations = 40

[data]
graphs = {}
topologies = {}
# All are learned from. A share held out would tell what the policy is worth on others.
held_out_share = 0

[collect]
problems = 16

[check]
every = 5
)",
      ValueText()(&graph_paths), ValueText()(&others));
}

}  // namespace placeto::train
