#include "trainer/base/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/policy/file/architecture.h"
#include "tools/options/options.h"
#include "tools/report/table.h"
#include "trainer/base/config_keys.h"
#include "trainer/base/files.h"

namespace placeto::train {
namespace {

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

template <class Range>
std::string joined(const Range& words, const char* between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// Reads one value into its slot; returns what was expected where the value is another.
class ValueReader {
 public:
  ValueReader(const ConfigKey& key, const toml::node& node) : key_(key), node_(node) {}

  std::string operator()(uint32_t* value) const { return whole(value, key_.most); }
  std::string operator()(uint64_t* value) const {
    const auto given = node_.value_exact<int64_t>();
    return take(value, given && *given >= 0 ? given : std::nullopt, "a whole number");
  }
  std::string operator()(double* value) const {
    auto given = node_.is_number() ? node_.value<double>() : std::nullopt;
    if (given && !(*given >= key_.least && *given <= key_.most)) given.reset();
    return take(value, given, fmt::format("a number from {} to {}", key_.least, key_.most));
  }
  std::string operator()(std::string* value) const {
    auto given = node_.value_exact<std::string>();
    // A name that this algorithm had once.
    if (given == "group" && is_one_of("siblings", key_.words) && !key_.words.empty()) {
      given = "siblings";
    }
    if (given && !is_one_of(*given, key_.words)) given.reset();
    return take(value, given,
                key_.words.empty() ? "a string" : "one of: " + joined(key_.words, ", "));
  }
  std::string operator()(std::vector<uint32_t>* value) const {
    auto widths = list<uint32_t, int64_t>([this](int64_t width) {
      return double(width) >= key_.least && double(width) <= key_.most;
    });
    if (widths && widths->size() > kMaxHiddenLayers) widths.reset();
    return take(value, widths,
                fmt::format("a list of 1 to {} widths from {} to {}", kMaxHiddenLayers, key_.least,
                            key_.most));
  }
  std::string operator()(std::vector<std::string>* value) const {
    return take(value, list<std::string, std::string>([this](const std::string& word) {
                  return is_one_of(word, key_.words);
                }),
                key_.words.empty() ? "a list of strings"
                                   : "a list of some of: " + joined(key_.words, ", "));
  }

 private:
  template <class T, class Given>
  static std::string take(T* value, const Given& given, const std::string& expected) {
    if (!given) return "expected " + expected;
    *value = static_cast<T>(*given);
    return {};
  }

  std::string whole(uint32_t* value, double most) const {
    auto given = node_.value_exact<int64_t>();
    if (given && !(double(*given) >= key_.least && double(*given) <= most)) given.reset();
    return take(value, given, fmt::format("a whole number from {} to {}", key_.least, most));
  }

  // A list that is not empty, all of it good.
  template <class T, class Given, class Good>
  std::optional<std::vector<T>> list(const Good& good) const {
    const toml::array* array = node_.as_array();
    std::vector<T> values;
    for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const auto value = array->get(i)->value_exact<Given>();
      if (!value || !good(*value)) return std::nullopt;
      values.push_back(static_cast<T>(*value));
    }
    const bool may_be_empty = std::is_same_v<T, std::string> && key_.words.empty();
    if (array == nullptr || (values.empty() && !may_be_empty)) return std::nullopt;
    return values;
  }

  const ConfigKey& key_;
  const toml::node& node_;
};

Status bad_at(const std::string& file, const toml::node& node, const std::string& section,
              std::string_view key, const std::string& problem) {
  return Status::bad_input(fmt::format("{}:{}: {}{}{}: {}", file, node.source().begin.line, section,
                                       section.empty() ? "" : ".", printable(key), problem));
}

bool is_section(std::string_view name) {
  const auto sections = config_sections();
  return std::any_of(sections.begin(), sections.end(),
                     [&](const ConfigSection& s) { return name == s.name; });
}

// The keys of one table. In the first, sections are keys, too.
Status read_table(const toml::table& table, const std::string& section, const std::string& file,
                  Config& config) {
  for (const auto& [key_name, node] : table) {
    const std::string name(key_name.str());
    if (section.empty() && is_section(name)) {
      if (node.as_table() == nullptr) return bad_at(file, node, section, name, "expected a table");
      if (Status s = read_table(*node.as_table(), name, file, config); !s.ok()) return s;
      continue;
    }
    const auto keys = config_keys();
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& k) {
      return section == k.section &&
             (name == k.name || (k.formerly != nullptr && name == k.formerly));
    });
    if (key == keys.end()) {
      std::vector<std::string> names;
      for (const ConfigKey& k : keys) {
        if (section == k.section) names.emplace_back(k.name);
      }
      if (section.empty()) {
        for (const ConfigSection& s : config_sections()) names.emplace_back(s.name);
      }
      return bad_at(file, node, section, name, "no such key" + cli::suggestion(name, names));
    }
    const std::string problem = std::visit(ValueReader(*key, node), key->slot(config));
    if (!problem.empty()) return bad_at(file, node, section, name, problem);
    config.origin.lines[full_name(*key)] = node.source().begin.line;
  }
  return {};
}

bool fits_architecture(const Config& c) {
  const auto all = algorithms();
  return std::any_of(all.begin(), all.end(), [&](const AlgorithmInfo& a) {
    return c.algorithm == a.name && (c.architecture == "placeto" ? a.placeto : a.pairwise);
  });
}

// Which algorithm is for which architecture.
std::string fitting_architectures() {
  std::string text;
  for (const AlgorithmInfo& a : algorithms()) {
    const char* architecture = a.pairwise && a.placeto ? "both"
                               : a.placeto             ? "placeto"
                                                       : "pairwise";
    const bool first = text.empty();
    text +=
        fmt::format("{}{}{} for {}", first ? "" : ", ", a.name, first ? " is" : "", architecture);
  }
  return text;
}

// What no single key can say.
Status check_whole(const Config& c, const std::string& file) {
  const bool placeto = c.architecture == "placeto";
  const AlgorithmInfo& algorithm = *find_algorithm(c.algorithm);  // another would not be read
  const std::pair<bool, std::string> wrong[] = {
      {!fits_architecture(c), "algorithm: " + fitting_architectures()},
      {c.learn.embedding > 0 && !algorithm.records_decisions && !algorithm.teaches_leaps,
       fmt::format("learn.embedding: is for {} and {}, expected 0 with other algorithms",
                   algorithms_that(&AlgorithmInfo::records_decisions),
                   algorithms_that(&AlgorithmInfo::teaches_leaps))},
      {algorithm.teaches_leaps && c.learn.leap == 0,
       fmt::format("learn.leap: expected 1 or more with {}", algorithm.name)},
      {algorithm.teaches_leaps && c.learn.start.empty(),
       fmt::format("learn.start: {} teaches nothing else, expected a policy to begin with",
                   algorithm.name)},
      {c.learn.grid > 0 && placeto, "learn.grid: is for pairwise, expected 0 with placeto"},
      {c.data.only > 0 && c.data.set == "mixed",
       "data.only: is for a family, expected 0 with mixed"},
      {!placeto && c.data.set != "mixed", "data.set: pairwise learns on mixed"},
      {algorithm.compares_siblings && c.episodes.rollouts < 2,
       fmt::format("episodes.rollouts: {} compares two or more", algorithm.name)},
      {c.data.graphs.empty() != c.data.topologies.empty(),
       "data.graphs, data.topologies: expected both or neither"},
      {c.data.min_nodes > c.data.max_nodes, "data.min_nodes is above data.max_nodes"},
      {c.data.min_ccr > c.data.max_ccr, "data.min_ccr is above data.max_ccr"},
      {c.collect.min_evaluations > c.collect.max_evaluations,
       "collect.min_evaluations is above collect.max_evaluations"}};
  for (const auto& [is_wrong, text] : wrong) {
    if (is_wrong) return Status::bad_input(file + ": " + text);
  }
  return {};
}

// "reinforce for placeto on nmt".
std::string run_of(const Config& c) {
  return fmt::format("{} for {} on {}", c.algorithm, c.architecture,
                     c.data.graphs.empty() ? c.data.set : "graphs of one's own");
}

// The first line with a key that this run does not read, and which other keys it does not.
Status check_read(const Config& c, const std::string& file) {
  std::vector<std::pair<uint32_t, const ConfigKey*>> unread;  // by line
  for (const ConfigKey& key : config_keys()) {
    const auto line = c.origin.lines.find(full_name(key));
    if (line == c.origin.lines.end() || key.readers->include(c)) continue;
    unread.emplace_back(line->second, &key);
  }
  if (unread.empty()) return {};
  std::ranges::sort(unread, {}, [](const auto& entry) { return entry.first; });
  const auto [line, first] = unread[0];
  std::vector<std::string> others;
  for (size_t i = 1; i < unread.size(); ++i) others.push_back(full_name(*unread[i].second));
  return Status::bad_input(
      fmt::format("{}:{}: {}: is read {}, not by {}: expected it to be left out{}", file, line,
                  full_name(*first), first->readers->who, run_of(c),
                  others.empty() ? "" : ", and so " + joined(others, ", ")));
}

// What falls does not rise where only its beginning is given.
void lower_final_values(Config& c) {
  struct Falling {
    const char* to;
    double &final_value, &from;
  };
  for (const auto& [to, final_value, from] :
       {Falling{"learn.final_learning_rate", c.learn.final_learning_rate, c.learn.learning_rate},
        {"episodes.final_learning_rate", c.episodes.final_learning_rate, c.episodes.learning_rate},
        {"episodes.final_entropy", c.episodes.final_entropy, c.episodes.entropy},
        {"episodes.final_all_action", c.episodes.final_all_action, c.episodes.all_action}}) {
    if (!c.origin.lines.contains(to)) final_value = std::min(final_value, from);
  }
}

}  // namespace

std::string Config::where(const std::string& key) const {
  if (origin.file.starts_with("--")) return origin.file;  // an option, which has no lines
  const auto line = origin.lines.find(key);
  return line == origin.lines.end() ? key
                                    : fmt::format("{}:{}: {}", origin.file, line->second, key);
}

Config default_config(std::string_view algorithm) {
  Config config;
  const AlgorithmInfo* info = find_algorithm(algorithm);
  if (info != nullptr && info->set_defaults != nullptr) info->set_defaults(config);
  return config;
}

Result<Config> parse_config(std::string_view text, const std::string& file_name, Unread unread) {
  constexpr size_t kMostBytes = 128 * 1024;  // a key of more parts overflows the parser's stack
  if (text.size() > kMostBytes) {
    return Status::bad_input(
        fmt::format("{}: {} bytes, expected at most {}", file_name, text.size(), kMostBytes));
  }
  toml::table root;
  try {
    root = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    return Status::bad_input(file_name + ":" + std::to_string(error.source().begin.line) + ": " +
                             std::string(error.description()));
  }
  Config config = default_config(root["algorithm"].value_or(std::string_view()));
  config.origin.file = file_name;
  if (Status s = read_table(root, "", file_name, config); !s.ok()) return s;
  if (Status s = check_whole(config, file_name); !s.ok()) return s;
  if (unread == Unread::kRefused) {
    if (Status s = check_read(config, file_name); !s.ok()) return s;
  }
  lower_final_values(config);
  return config;
}

Result<Config> load_config(const std::string& path, std::string* text, Unread unread) {
  Result<std::string> content = read_text(path);
  if (!content.ok()) return content.status();
  if (text != nullptr) *text = *content;
  return parse_config(*content, path, unread);
}

}  // namespace placeto::train
