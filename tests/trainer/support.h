// Folders that go away, and a configuration that trains in a second.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "trainer/base/config.h"

namespace placeto::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "placeto-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline train::Config small_config() {
  train::Config config;
  config.iterations = 4;
  config.threads = 1;
  config.data.max_nodes = 60;
  config.data.large_share = config.data.network_share = 0;
  config.collect.problems = 4;
  config.collect.decisions = 40;
  config.collect.max_evaluations = 100;
  config.learn.hidden = {8};
  config.learn.window = 2;
  config.learn.steps = 5;
  config.learn.decisions = 32;
  config.check.every = 2;
  config.check.problems = 3;
  config.check.save_every = 1;
  return config;
}

// With a graph network of two rounds.
inline train::Config small_graph_config() {
  train::Config config = small_config();
  config.learn.embedding = 6;
  config.learn.rounds = 2;
  config.learn.graph_hidden = {5};
  config.learn.states = 8;
  return config;
}

// The same, and a network of leaps.
inline train::Config small_leaps_config() {
  train::Config config = small_graph_config();
  config.algorithm = "leaps";
  config.collect.expert_evaluations = 200;
  config.learn.start = "default";
  config.learn.hidden = {48, 48};  // as it has
  config.learn.leap = 7;
  return config;
}

inline train::LearnConfig gains_within(double least, double most) {
  train::LearnConfig learn;
  learn.least_gain = least;
  learn.most_gain = most;
  return learn;
}

// The same for policies of the architecture `placeto`: two graphs of some twenty nodes.
inline train::Config small_placeto_config(const std::string& algorithm) {
  train::Config config = small_config();
  config.algorithm = algorithm;
  config.architecture = "placeto";
  config.data.min_nodes = 15;
  config.data.max_nodes = 25;
  config.data.unlike_share = config.data.memory_share = 0;
  config.data.fixed_graphs = 2;
  config.placeto.rounds = 2;
  config.episodes.graphs = 2;
  config.episodes.rollouts = 3;
  config.episodes.batches = 2;
  config.episodes.epochs = 2;
  config.episodes.all_action = 0.5;
  return config;
}

}  // namespace placeto::test
