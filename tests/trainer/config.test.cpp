#include "trainer/base/config.h"

#include <doctest/doctest.h>

#include <cstring>

#include "trainer/algorithms/algorithm.h"
#include "trainer/base/config_keys.h"

using namespace placeto;
using namespace placeto::train;

namespace {

std::string message_of(std::string_view text) {
  const Result<Config> config = parse_config(text, "c.toml");
  REQUIRE(!config.ok());
  CHECK(config.status().code() == StatusCode::kBadInput);
  return config.status().message();
}

}  // namespace

TEST_CASE("the printed default configuration is the default configuration") {
  const Result<Config> config = parse_config(default_config_text(), "defaults");
  REQUIRE(config.ok());
  CHECK(*config == Config{});
  std::string text = default_config_text();
  for (const auto& [from, to] :
       {std::pair{"architecture = \"pairwise\"", "architecture = \"placeto\""},
        {"algorithm = \"credit\"", "algorithm = \"reinforce\""}}) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), std::strlen(from), to);
  }
  const Result<Config> published = parse_config(text, "published");
  REQUIRE(published.ok());
  CHECK(published->episodes == default_config("reinforce").episodes);
}

TEST_CASE("a configuration that is written is read as it was") {
  Config config = default_config("siblings");
  config.algorithm = "siblings";
  config.seed = 1'234'567'890'123;
  config.data.graphs = {"a\"b.graph"};
  config.data.topologies = {"x.json", "y.json"};
  config.episodes.clip = 1e-6;
  config.learn.hidden = {3, 4, 5};
  const Result<Config> read = parse_config(config_text(config), "written");
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(*read == config);
  CHECK(changed_setting(config, *read) == "");
}

TEST_CASE("paths of one's own graphs are written as they are, whatever they hold") {
  const std::string odd = "/a\"b\\c\n'd.graph";
  const Result<Config> config = parse_config(own_config_text({odd}, {"2xk80"}), "--graphs");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->data.graphs == std::vector<std::string>{odd});
}

TEST_CASE("an empty configuration is the default one, a given key changes only itself") {
  Result<Config> config = parse_config("", "c.toml");
  REQUIRE(config.ok());
  CHECK(*config == Config{});
  config = parse_config("seed = 9\n[learn]\nhidden = [5]\n", "c.toml");
  REQUIRE(config.ok());
  Config expected;
  expected.seed = 9;
  expected.learn.hidden = {5};
  CHECK(*config == expected);
}

TEST_CASE("reinforce has nothing but the published gradient, unless the file asks for more") {
  Result<Config> config =
      parse_config("algorithm = \"reinforce\"\narchitecture = \"placeto\"\n", "c.toml");
  REQUIRE(config.ok());
  CHECK(config->episodes.all_action == 0);
  CHECK(config->episodes.final_all_action == 0);
  config = parse_config(
      "algorithm = \"reinforce\"\narchitecture = \"placeto\"\n[episodes]\nall_action = 2\n", "");
  REQUIRE(config.ok());
  CHECK(config->episodes.all_action == 2);
}

TEST_CASE("names that keys and values had once are still read") {
  const Result<Config> old = parse_config(
      "algorithm = \"group\"\n[data]\ngroups = 7\n[collect]\ngroups = 8\n"
      "[learn]\ngroups = 9\ngraphs = 10\n",
      "c.toml");
  REQUIRE(old.ok());
  CHECK(old->algorithm == "siblings");
  CHECK(old->data.merged_nodes == 7);
  CHECK(old->collect.decisions == 8);
  CHECK(old->learn.decisions == 9);
  CHECK(old->learn.states == 10);
  CHECK(message_of("[data]\ngraphs = [\"a.graph\"]\n").find("topologies") != std::string::npos);
}

TEST_CASE("every algorithm is made for the architectures that it is for, and refused for others") {
  for (const AlgorithmInfo& algorithm : algorithms()) {
    for (const bool placeto : {false, true}) {
      CAPTURE(algorithm.name);
      CAPTURE(placeto);
      const Result<Config> config =
          parse_config(std::string("algorithm = \"") + algorithm.name + "\"\narchitecture = \"" +
                           (placeto ? "placeto" : "pairwise") + "\"\n",
                       "c.toml");
      CHECK(config.ok() == (placeto ? algorithm.placeto : algorithm.pairwise));
      if (config.ok()) CHECK(make_algorithm(*config) != nullptr);
    }
  }
}

TEST_CASE("a configuration is bounded, and its keys are printed as text") {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "a.";
  CHECK(message_of(deep + "b = 1") == "c.toml: 600005 bytes, expected at most 131072");
  CHECK(message_of(deep.substr(0, 120'000) + "b = 1") != "");
  CHECK(message_of("\"\\u001b[31mx\" = 1").find("c.toml:1: ?[31mx: no such key") == 0);
}

TEST_CASE("networks that no policy file holds are refused where the configuration is read") {
  for (const std::string name : {"hidden", "graph_hidden"}) {
    const std::string layers = "[learn]\n" + name + " = [9, 9, 9, 9, 9, 9, 9, 9";
    CHECK(parse_config(layers + "]\n", "c.toml").ok());
    CHECK(message_of(layers + ", 9]\n") ==
          "c.toml:2: learn." + name + ": expected a list of 1 to 8 widths from 1 to 4096");
  }
  CHECK(
      message_of("[learn]\nembedding = 4097\n").starts_with("c.toml:2: learn.embedding: expected"));
  CHECK(message_of("[placeto]\nrounds = 65\n").starts_with("c.toml:2: placeto.rounds: expected"));
}

TEST_CASE("errors of a configuration name file, line and key") {
  CHECK(message_of("seed = 1\nseeds = 2\n") ==
        "c.toml:2: seeds: no such key, did you mean 'seed'?");
  CHECK(message_of("[learn]\n\nsteps = \"many\"\n").starts_with("c.toml:3: learn.steps: expected"));
  CHECK(message_of("[learn]\nhidden = [4, 0]\n").starts_with("c.toml:2: learn.hidden: expected"));
  CHECK(
      message_of("[data]\nmax_devices = 1\n").starts_with("c.toml:2: data.max_devices: expected"));
  CHECK(message_of("[data]\nmin_ccr = -1\n").starts_with("c.toml:2: data.min_ccr: expected"));
  CHECK(message_of("[episodes]\nmost_gradient = 0\n") ==
        "c.toml:2: episodes.most_gradient: expected a number from 1e-09 to 1000000000");
  CHECK(message_of("data = 3\n").starts_with("c.toml:1: data: expected a table"));
  CHECK(message_of("seed = \n").starts_with("c.toml:1: "));
  CHECK(message_of("algorithm = \"magic\"\n").find("credit") != std::string::npos);
  CHECK(message_of("algorithm = \"credit\"\narchitecture = \"placeto\"\n").find("pairwise") !=
        std::string::npos);
  CHECK(message_of("algorithm = \"reinforce\"\n") ==
        "c.toml: algorithm: credit is for pairwise, reinforce for placeto, siblings for both");
  CHECK(parse_config("algorithm = \"group\"\n", "c.toml").ok());
  CHECK(message_of("algorithm = \"siblings\"\n[learn]\nembedding = 8\n").find("for credit") !=
        std::string::npos);
  CHECK(message_of("[data]\nonly = 3\n").find("family") != std::string::npos);
  CHECK(message_of("[data]\nset = \"imagenet\"\n").find("cifar10") != std::string::npos);
  CHECK(message_of("[episodes]\nstarts = [\"here\"]\n").starts_with("c.toml:2: episodes.starts"));
  CHECK(message_of("[placeto]\nstart_time = 1\n")
            .starts_with("c.toml:2: placeto.start_time: no such key"));
  CHECK(message_of("[data]\nmin_nodes = 500\n").find("max_nodes") != std::string::npos);
}
