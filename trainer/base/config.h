// Config: everything a training run depends on, read from a TOML file. What each key means, which
// values it takes and where it is stored is one table in config_keys.cpp; default_config_text()
// prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace placeto::train {

struct DataConfig {
  std::vector<std::string> graphs, topologies;  // one's own; empty: `set`
  double held_out_share = 0.25;
  std::string set = "mixed";
  uint32_t fixed_graphs = 16;
  uint32_t devices = 2;
  uint32_t merged_nodes = 250;
  uint32_t only = 0;
  uint32_t min_nodes = 40, max_nodes = 300;
  double large_share = 0.04;
  uint32_t large_nodes = 1'000;
  double network_share = 0.25;
  uint32_t max_network_nodes = 700;
  double min_ccr = 0.05, max_ccr = 10;
  uint32_t max_devices = 8;
  double unlike_share = 0.35;
  double irregular_share = 0;
  double memory_share = 0.2;
  friend bool operator==(const DataConfig&, const DataConfig&) = default;
};

struct CollectConfig {
  uint32_t problems = 64;
  uint32_t decisions = 300;
  uint32_t min_evaluations = 50, max_evaluations = 1'000;
  uint32_t expert_evaluations = 100'000;
  friend bool operator==(const CollectConfig&, const CollectConfig&) = default;
};

struct LearnConfig {
  std::vector<uint32_t> hidden = {48, 48};
  uint32_t embedding = 0;
  uint32_t rounds = 3;
  std::vector<uint32_t> graph_hidden = {16};
  uint32_t leap = 0;
  uint32_t states = 32;
  uint32_t window = 16;
  uint32_t steps = 200;
  uint32_t decisions = 1'024;
  double learning_rate = 2e-3, final_learning_rate = 5e-5;
  double least_gain = -0.004, most_gain = 0.25;
  double improving_weight = 2;
  double all_action_weight = 1;
  double averaging = 0.998;
  double imitation = 0;
  std::string start;
  uint32_t grid = 0;
  std::string processor = "cpu";
  friend bool operator==(const LearnConfig&, const LearnConfig&) = default;
};

// Networks of a `placeto` policy.
struct PlacetoConfig {
  uint32_t rounds = 8;
  double averaging = 0.95;
  friend bool operator==(const PlacetoConfig&, const PlacetoConfig&) = default;
};

// For algorithms that run episodes.
struct EpisodesConfig {
  uint32_t graphs = 10;
  uint32_t rollouts = 2;
  uint32_t passes = 1;
  double temperature = 0.003;
  std::vector<std::string> starts = {"heuristic", "single", "random"};
  uint32_t baseline = 20;
  uint32_t epochs = 2;
  uint32_t batches = 5;
  double clip = 0.2;
  double entropy = 0.02, final_entropy = 0;
  double all_action = 0, final_all_action = 0;
  double discount = 1;
  double reward_scale = 10;
  double memory_penalty = 2;
  uint32_t steps = 24;
  double learning_rate = 3e-3, final_learning_rate = 1e-4;
  double most_gradient = 0.5;
  friend bool operator==(const EpisodesConfig&, const EpisodesConfig&) = default;
};

struct CheckConfig {
  uint32_t every = 10;
  uint32_t problems = 48;
  uint32_t save_every = 10;
  friend bool operator==(const CheckConfig&, const CheckConfig&) = default;
};

// Where keys are, for messages.
struct ConfigOrigin {
  std::string file;
  std::map<std::string, uint32_t> lines;  // by name: "learn.start"
  // It is no part of what a configuration is.
  friend bool operator==(const ConfigOrigin&, const ConfigOrigin&) { return true; }
};

struct Config {
  std::string algorithm = "credit";
  std::string architecture = "pairwise";
  uint64_t seed = 1;
  uint32_t iterations = 130;
  uint32_t threads = 0;
  DataConfig data;
  CollectConfig collect;
  LearnConfig learn;
  PlacetoConfig placeto;
  EpisodesConfig episodes;
  CheckConfig check;
  ConfigOrigin origin;

  // "c.toml:3: learn.start", or the key alone where no file has it.
  std::string where(const std::string& key) const;
  friend bool operator==(const Config&, const Config&) = default;
};

// What keys are where a file leaves them out: Config{}, but for algorithms with defaults of their
// own (AlgorithmInfo::set_defaults).
Config default_config(std::string_view algorithm);

// A complete configuration file: every key with its default and its meaning.
std::string default_config_text();

// Every key with its value, and nothing else.
std::string config_text(const Config& config);

// What a policy tells others about how it was trained: `text`, which the configuration was read
// from, where that names no file by its folder, so that a recipe makes the same file to the byte.
// Else the keys that it gives, but `threads`, with the names of files or patterns alone.
std::string text_for_others(const Config& config, std::string_view text);

// "seed is 9, the run began with 1" of the first key that decides what is learned and differs;
// empty if none does. Others, such as iterations and threads, may change while a run goes on.
std::string changed_setting(const Config& began, const Config& now);

// A configuration that teaches the shipped policy to leap on files of one's own, in minutes.
std::string own_config_text(const std::vector<std::string>& graphs,
                            const std::vector<std::string>& topologies);

// Keys that a run of this configuration does not read. What runs and policies hold may have such:
// older versions took them, and settings are kept whole.
enum class Unread : uint8_t { kRefused, kLeft };

// Absent keys keep their defaults; a final value, which another falls to, is at most that one then.
// Fails with kBadInput, naming file and line, on a syntax error, an unknown key, a value of the
// wrong type or one out of range, and on keys that are not read.
Result<Config> parse_config(std::string_view text, const std::string& file_name,
                            Unread unread = Unread::kRefused);
Result<Config> load_config(const std::string& path, std::string* text,
                           Unread unread = Unread::kRefused);

}  // namespace placeto::train
