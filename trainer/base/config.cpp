#include "trainer/base/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/files.h"

namespace placeto::train {
namespace {

constexpr std::string_view kDefaultText =
    R"(# A training run of placeto-train. Every key may be left out; the values here are the defaults.

algorithm = "credit"  # exact credit: the cost model says what every alternative device would give
                      # "reinforce": as published; "group": episodes on a graph judge each other
architecture = "pairwise"  # or "placeto", which needs "reinforce" or "group"
seed = 1              # of problems, initial weights and minibatches; same seed, same policy
iterations = 130      # of collecting and learning
threads = 0           # that collect; 0: one per processor. Never changes the result.

[data]
set = "mixed"         # problems drawn on the fly; "cifar10", "ptb", "nmt": the seen half of a family
devices = 2           # of a family's problems; with "placeto", of mixed ones too
groups = 250          # a family's operators are merged into at most so many nodes; 0: not merged
only = 0              # train on this one graph of the family: 1-16 seen, 17-32 unseen; 0: all seen
graphs = 16           # "placeto" on mixed: drawn once, then fixed. What follows is of "mixed":
min_nodes = 40        # random graphs: log-uniform
max_nodes = 300
large_share = 0.04    # of random graphs that have large_nodes instead
large_nodes = 1000
network_share = 0.25  # of problems that are named networks, for inference or training
max_network_nodes = 700  # networks with more nodes are drawn again
min_ccr = 0.05        # communication-to-computation ratio of random graphs: log-uniform
max_ccr = 10.0
max_devices = 8       # from 2 on
unlike_share = 0.35   # of topologies with slower devices, or several kinds, or links of their own
irregular_share = 0.0 # of the other topologies, where devices have adapters of their own, some
                      # pairs have bridges, or links share channels at random
memory_share = 0.2    # of problems with limited memory

[collect]  # in each iteration
problems = 64
groups = 300            # decisions recorded of each problem; each with all its candidate devices
min_evaluations = 50    # length of the searches that visit states: log-uniform
max_evaluations = 1000

[learn]
hidden = [48, 48]       # hidden layers of the head
embedding = 0           # "credit": floats per node that a graph network adds; 0: no graph network
rounds = 3              # of its message passing, each along the edges and against them
graph_hidden = [16]     # hidden layers of its encoder and of each f and g of its messages
graphs = 32             # states of graphs that a minibatch's decisions are about, with embedding
window = 16             # iterations whose records are learned from
steps = 200             # of the optimizer (Adam), in each iteration
groups = 1024           # decisions in a minibatch
learning_rate = 2e-3    # falls linearly ...
final_learning_rate = 5e-5  # ... to this
least_gain = -0.004     # decreases of log makespan are clamped to this range; placing takes bad
most_gain = 0.25        # moves back, so how bad one is matters little
improving_weight = 2.0  # extra weight of moves that improve, in the regression
all_action_weight = 1.0 # of the expected gain under softmax(scores), against the regression
averaging = 0.998       # of the weights over steps; the average is what ships
imitation = 0.0         # "credit": weight of imitating what the search made of the policy's placement
start = ""              # policy file to begin with, instead of weights drawn by seed; it may lack
                        # the graph network

[placeto]  # networks of the architecture: widths as published, 5 + devices and multiples of it
rounds = 8          # of message passing
start_time = true   # among the features; without it placing is faster
averaging = 0.95    # of the weights over steps; the average is what ships

[episodes]  # of "reinforce" and "group"
graphs = 10         # drawn in each iteration
rollouts = 2        # episodes on each, all from one start
passes = 1          # over all nodes, in an episode
temperature = 0.003 # "pairwise": choices are drawn from softmax(scores / temperature)
starts = ["heuristic", "single", "random"]  # of an episode: drawn from these
baseline = 20       # reinforce: recent episodes (of a graph and kind of start) that returns are
                    # compared with
epochs = 2          # group: how often an iteration's episodes are learned from ...
batches = 5         # ... in how many steps of the optimizer each time
clip = 0.2          # group: of ratios of probabilities
entropy = 0.02      # weight of the bonus; falls linearly ...
final_entropy = 0.0 # ... to this
all_action = 10.0       # weight of the exact gain of every alternative device (an iteration's are
                        # scaled to unit mean square); likewise. 0 is as published.
final_all_action = 2.0
reward_scale = 10.0     # rewards are decreases of makespan over the best heuristic's, times this
memory_penalty = 2.0    # of exceeding memory by as much as there is; the best heuristic's makespan: 1
steps = 24              # of an episode that gradients are computed of, drawn at random; 0: all
learning_rate = 3e-3    # Adam's; falls linearly ...
final_learning_rate = 1e-4
most_gradient = 0.5     # norm that gradients are clipped to

[check]
every = 10        # iterations; on held-out problems, greedy and with search ("placeto": greedy, on
problems = 48     # the graphs it learns from)
save_every = 10   # iterations between checkpoints
)";

// Reads the keys of one table and remembers which it has seen, so that the rest are errors.
class Reader {
 public:
  Reader(const toml::table& table, std::string file, std::string section)
      : table_(table), file_(std::move(file)), section_(std::move(section)) {}

  template <class Integer>
  requires std::is_integral_v<Integer>
  void read(const char* key, Integer& value, uint64_t least,
            uint64_t most = std::numeric_limits<Integer>::max()) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto given = node->value_exact<int64_t>();
    if (!given || *given < 0 || uint64_t(*given) < least || uint64_t(*given) > most) {
      return fail(
          *node, key,
          "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    value = static_cast<Integer>(*given);
  }

  void read(const char* key, double& value, double least, double most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto given = node->is_number() ? node->value<double>() : std::nullopt;
    if (!given || !(*given >= least && *given <= most)) {
      return fail(*node, key, fmt::format("expected a number from {} to {}", least, most));
    }
    value = *given;
  }

  void read(const char* key, std::string& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto given = node->value_exact<std::string>()) {
      value = *given;
    } else {
      fail(*node, key, "expected a string");
    }
  }

  void read(const char* key, std::vector<uint32_t>& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    std::vector<uint32_t> widths;
    for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const auto width = array->get(i)->value_exact<int64_t>();
      if (width && *width > 0 && *width <= 4'096) widths.push_back(static_cast<uint32_t>(*width));
    }
    if (array == nullptr || widths.size() != array->size() || widths.empty()) {
      return fail(*node, key, "expected a list of widths from 1 to 4096");
    }
    value = std::move(widths);
  }

  void read(const char* key, bool& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto given = node->value_exact<bool>()) {
      value = *given;
    } else {
      fail(*node, key, "expected true or false");
    }
  }

  void read(const char* key, std::vector<std::string>& value,
            std::initializer_list<std::string_view> allowed) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    std::vector<std::string> words;
    for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const auto word = array->get(i)->value_exact<std::string>();
      if (word && std::find(allowed.begin(), allowed.end(), *word) != allowed.end()) {
        words.push_back(*word);
      }
    }
    if (array == nullptr || words.size() != array->size() || words.empty()) {
      std::string all;
      for (const std::string_view word : allowed) all += " " + std::string(word);
      return fail(*node, key, "expected a list of some of:" + all);
    }
    value = std::move(words);
  }

  const toml::table* sub_table(const char* key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (node->as_table() == nullptr) fail(*node, key, "expected a table");
    return node->as_table();
  }

  Status finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(seen_.begin(), seen_.end(), key.str()) == seen_.end()) {
        fail(node, key.str(), "no such key");
      }
    }
    return status_;
  }

 private:
  const toml::node* find(const char* key) {
    seen_.emplace_back(key);
    return table_.get(key);
  }
  void fail(const toml::node& node, std::string_view key, const std::string& problem) {
    if (!status_.ok()) return;
    status_ = Status::bad_input(file_ + ":" + std::to_string(node.source().begin.line) + ": " +
                                section_ + std::string(key) + ": " + problem);
  }

  const toml::table& table_;
  std::string file_, section_;
  std::vector<std::string> seen_;
  Status status_;
};

void read_data(Reader& r, DataConfig& c) {
  r.read("set", c.set);
  r.read("devices", c.devices, 2, 64);
  r.read("groups", c.groups, 0, 100'000);
  r.read("only", c.only, 0, 32);
  r.read("graphs", c.graphs, 1, 10'000);
  r.read("min_nodes", c.min_nodes, 4, 100'000);
  r.read("max_nodes", c.max_nodes, 4, 100'000);
  r.read("large_share", c.large_share, 0, 1);
  r.read("large_nodes", c.large_nodes, 4, 100'000);
  r.read("network_share", c.network_share, 0, 1);
  r.read("max_network_nodes", c.max_network_nodes, 100, 100'000);
  r.read("min_ccr", c.min_ccr, 1e-4, 1e4);
  r.read("max_ccr", c.max_ccr, 1e-4, 1e4);
  r.read("max_devices", c.max_devices, 2, 64);
  r.read("unlike_share", c.unlike_share, 0, 1);
  r.read("irregular_share", c.irregular_share, 0, 1);
  r.read("memory_share", c.memory_share, 0, 1);
}

void read_collect(Reader& r, CollectConfig& c) {
  r.read("problems", c.problems, 1, 100'000);
  r.read("groups", c.groups, 1, 1'000'000);
  r.read("min_evaluations", c.min_evaluations, 1, 10'000'000);
  r.read("max_evaluations", c.max_evaluations, 1, 10'000'000);
}

void read_learn(Reader& r, LearnConfig& c) {
  r.read("hidden", c.hidden);
  r.read("embedding", c.embedding, 0, 4'096);
  r.read("rounds", c.rounds, 0, 64);
  r.read("graph_hidden", c.graph_hidden);
  r.read("graphs", c.graphs, 1, 1'000'000);
  r.read("window", c.window, 1, 10'000);
  r.read("steps", c.steps, 1, 1'000'000);
  r.read("groups", c.groups, 1, 1'000'000);
  r.read("learning_rate", c.learning_rate, 0, 1);
  r.read("final_learning_rate", c.final_learning_rate, 0, 1);
  r.read("least_gain", c.least_gain, -10, -1e-4);
  r.read("most_gain", c.most_gain, 1e-4, 10);
  r.read("improving_weight", c.improving_weight, 0, 1'000);
  r.read("all_action_weight", c.all_action_weight, 0, 1'000);
  r.read("averaging", c.averaging, 0, 0.999999);
  r.read("imitation", c.imitation, 0, 1'000);
  r.read("start", c.start);
}

void read_placeto(Reader& r, PlacetoConfig& c) {
  r.read("rounds", c.rounds, 0, 64);
  r.read("start_time", c.start_time);
  r.read("averaging", c.averaging, 0, 0.999999);
}

void read_episodes(Reader& r, EpisodesConfig& c) {
  r.read("graphs", c.graphs, 1, 10'000);
  r.read("rollouts", c.rollouts, 1, 10'000);
  r.read("passes", c.passes, 1, 1'000);
  r.read("temperature", c.temperature, 1e-6, 1e3);
  r.read("starts", c.starts, {"heuristic", "single", "random"});
  r.read("baseline", c.baseline, 1, 100'000);
  r.read("epochs", c.epochs, 1, 1'000);
  r.read("batches", c.batches, 1, 10'000);
  r.read("clip", c.clip, 1e-6, 10);
  r.read("entropy", c.entropy, 0, 1'000);
  r.read("final_entropy", c.final_entropy, 0, 1'000);
  r.read("all_action", c.all_action, 0, 1'000);
  r.read("final_all_action", c.final_all_action, 0, 1'000);
  r.read("reward_scale", c.reward_scale, 1e-6, 1e6);
  r.read("memory_penalty", c.memory_penalty, 0, 1e6);
  r.read("steps", c.steps, 0, 1'000'000);
  r.read("learning_rate", c.learning_rate, 0, 1);
  r.read("final_learning_rate", c.final_learning_rate, 0, 1);
  r.read("most_gradient", c.most_gradient, 1e-9, 1e9);
}

// "one of: a, b, c", or nothing if `value` is one of them.
std::string expected(const std::string& value, std::initializer_list<const char*> allowed) {
  std::string message;
  for (const char* one : allowed) {
    if (value == one) return {};
    message += (message.empty() ? "expected one of: " : ", ") + std::string(one);
  }
  return message;
}

Status check_names(const Config& c, const std::string& file) {
  const std::pair<const char*, std::string> names[] = {
      {"algorithm", expected(c.algorithm, {"credit", "reinforce", "group"})},
      {"architecture", expected(c.architecture, {"pairwise", "placeto"})},
      {"data.set", expected(c.data.set, {"mixed", "cifar10", "ptb", "nmt"})}};
  for (const auto& [key, message] : names) {
    if (!message.empty()) return Status::bad_input(file + ": " + key + ": " + message);
  }
  return {};
}

Status check_whole(const Config& c, const std::string& file) {
  const auto bad = [&file](const char* text) { return Status::bad_input(file + ": " + text); };
  if (Status s = check_names(c, file); !s.ok()) return s;
  const bool placeto = c.architecture == "placeto";
  if (placeto ? c.algorithm == "credit" : c.algorithm == "reinforce") {
    return bad("algorithm: credit is for pairwise, reinforce for placeto, group for both");
  }
  if (placeto && !c.learn.start.empty())
    return bad("learn.start: is for pairwise, expected none with placeto");
  if (c.learn.embedding > 0 && (placeto || c.algorithm != "credit")) {
    return bad("learn.embedding: is for credit, expected 0 with other algorithms");
  }
  if (c.data.only > 0 && c.data.set == "mixed")
    return bad("data.only: is for a family, expected 0 with mixed");
  if (!placeto && c.data.set != "mixed") return bad("data.set: pairwise learns on mixed");
  if (c.algorithm == "group" && c.episodes.rollouts < 2) {
    return bad("episodes.rollouts: group compares two or more");
  }
  if (c.data.min_nodes > c.data.max_nodes) return bad("data.min_nodes is above data.max_nodes");
  if (c.data.min_ccr > c.data.max_ccr) return bad("data.min_ccr is above data.max_ccr");
  if (c.collect.min_evaluations > c.collect.max_evaluations) {
    return bad("collect.min_evaluations is above collect.max_evaluations");
  }
  return {};
}

}  // namespace

std::string_view default_config_text() {
  return kDefaultText;
}

Result<Config> parse_config(std::string_view text, const std::string& file_name) {
  toml::table root;
  try {
    root = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    return Status::bad_input(file_name + ":" + std::to_string(error.source().begin.line) + ": " +
                             std::string(error.description()));
  }
  Config config;
  Reader top(root, file_name, "");
  top.read("algorithm", config.algorithm);
  top.read("architecture", config.architecture);
  top.read("seed", config.seed, 0, std::numeric_limits<int64_t>::max());
  top.read("iterations", config.iterations, 1);
  top.read("threads", config.threads, 0, 1'024);
  const auto section = [&](const char* name, auto read, auto& part) {
    const toml::table* table = top.sub_table(name);
    if (table == nullptr) return Status{};
    Reader reader(*table, file_name, std::string(name) + ".");
    read(reader, part);
    return reader.finish();
  };
  const auto read_check = [](Reader& r, CheckConfig& c) {
    r.read("every", c.every, 1);
    r.read("problems", c.problems, 1, 10'000);
    r.read("save_every", c.save_every, 1);
  };
  for (const Status& status :
       {section("data", read_data, config.data), section("collect", read_collect, config.collect),
        section("learn", read_learn, config.learn),
        section("placeto", read_placeto, config.placeto),
        section("episodes", read_episodes, config.episodes),
        section("check", read_check, config.check), top.finish()}) {
    if (!status.ok()) return status;
  }
  if (Status status = check_whole(config, file_name); !status.ok()) return status;
  return config;
}

Result<Config> load_config(const std::string& path, std::string* text) {
  Result<std::string> content = read_text(path);
  if (!content.ok()) return content.status();
  if (text != nullptr) *text = *content;
  return parse_config(*content, path);
}

}  // namespace placeto::train
