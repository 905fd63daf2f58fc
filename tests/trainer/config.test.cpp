#include "trainer/base/config.h"

#include <doctest/doctest.h>

#include <cstring>

#include "trainer/algorithms/make_algorithm.h"
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
  // With those keys, too, that are not for every run.
  std::string whole = default_config_text();
  for (size_t at; (at = whole.find("\n# ", whole.find("[data]"))) != std::string::npos;) {
    whole.erase(at + 1, 2);
  }
  const Result<Config> all = parse_config(whole, "whole", Unread::kLeft);
  REQUIRE_MESSAGE(all.ok(), all.status().message());
  CHECK(*all == Config{});
  CHECK(all->origin.lines.size() == config_keys().size());
}

TEST_CASE("keys that a run does not read are refused, and who reads them is said") {
  const std::string reinforce = "algorithm = \"reinforce\"\narchitecture = \"placeto\"\n";
  CHECK(message_of(reinforce + "[learn]\nlearning_rate = 1e-3\n") ==
        "c.toml:4: learn.learning_rate: is read by credit and leaps, not by reinforce for placeto "
        "on mixed: expected it to be left out");
  // The first line of several; the others are named.
  CHECK(message_of(reinforce + "[episodes]\nclip = 0.1\n[collect]\nproblems = 9\n") ==
        "c.toml:4: episodes.clip: is read by siblings, not by reinforce for placeto on mixed: "
        "expected it to be left out, and so collect.problems");
  const std::string siblings = "algorithm = \"siblings\"\narchitecture = \"placeto\"\n";
  CHECK(message_of(siblings + "[data]\nset = \"nmt\"\nmin_nodes = 9\n") ==
        "c.toml:5: data.min_nodes: is read on mixed, not by siblings for placeto on nmt: expected "
        "it to be left out");
  for (const char* unread : {"[episodes]\ngraphs = 3\n", "[placeto]\nrounds = 3\n",
                             "[data]\ndevices = 3\n", "[data]\nheld_out_share = 0.5\n"}) {
    CAPTURE(unread);
    CHECK(message_of(unread).find(", not by credit for pairwise on mixed: ") != std::string::npos);
    CHECK(parse_config(unread, "c.toml", Unread::kLeft).ok());
  }
  CHECK(message_of(siblings + "[check]\nproblems = 3\n")
            .starts_with("c.toml:4: check.problems: is read for pairwise and on graphs of one's "
                         "own, not by siblings"));
  const std::string own = "[data]\ngraphs = [\"a\"]\ntopologies = [\"b\"]\n";
  CHECK(parse_config(siblings + own + "merged_nodes = 9\n[check]\nproblems = 3\n", "").ok());
  CHECK(message_of(own + "network_share = 0\n").find("on graphs of one's own: expected") !=
        std::string::npos);
}

TEST_CASE("what falls is given by its beginning alone, or by both ends") {
  const auto learn = [](const char* text) {
    const Result<Config> config = parse_config(std::string("[learn]\n") + text, "c.toml");
    REQUIRE_MESSAGE(config.ok(), config.status().message());
    return config->learn;
  };
  CHECK(learn("learning_rate = 1e-6\n").final_learning_rate == 1e-6);
  CHECK(learn("learning_rate = 1e-3\n").final_learning_rate == 5e-5);
  CHECK(learn("learning_rate = 1e-6\nfinal_learning_rate = 1e-3\n").final_learning_rate == 1e-3);
  const Result<Config> off = parse_config(
      "algorithm = \"siblings\"\n[episodes]\nall_action = 0\nlearning_rate = 1e-5\n", "c.toml");
  REQUIRE(off.ok());
  CHECK(off->episodes.final_all_action == 0);
  CHECK(off->episodes.final_learning_rate == 1e-5);
}

TEST_CASE("the configurations that ship are read") {
  const std::string models = PLACETO_MODELS;
  for (const std::string& path :
       {models + "/default.toml", models + "/placeto-cifar10-2gpu.toml",
        models + "/placeto-ptb-2gpu.toml", models + "/placeto-nmt-2gpu.toml",
        models + "/../trainer/quick.toml"}) {
    std::string text;
    const Result<Config> config = load_config(path, &text);
    REQUIRE_MESSAGE(config.ok(), config.status().message());
    CHECK(text_for_others(*config, text) == text);  // policies hold it to the byte
  }
}

TEST_CASE("what a policy tells of its configuration has no folders") {
  const std::string_view text =
      "# of /home/me\nseed = 7\nthreads = 3\n[data]\ngraphs = [\"/home/me/nets/*.graph\", "
      "\"x.json\"]\ntopologies = [\"boxes/a.json\", \"2xk80\"]\n[learn]\nstart = \"../p.plpo\"\n";
  const Result<Config> config = parse_config(text, "c.toml");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  const std::string told = text_for_others(*config, text);
  CHECK(told ==
        "seed = 7\n\n[data]\ngraphs = [\"*.graph\", \"x.json\"]\n"
        "topologies = [\"a.json\", \"2xk80\"]\n\n[learn]\nstart = \"p.plpo\"\n");
  CHECK(parse_config(told, "told").ok());
}

TEST_CASE("a configuration that is written is read as it was") {
  Config config = default_config("siblings");
  config.algorithm = "siblings";
  config.seed = 1'234'567'890'123;
  config.data.graphs = {"a\"b.graph"};
  config.data.topologies = {"x.json", "y.json"};
  config.episodes.clip = 1e-6;
  config.learn.hidden = {3, 4, 5};
  const Result<Config> read = parse_config(config_text(config), "written", Unread::kLeft);
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

TEST_CASE("nothing but the published gradient is learned from, unless the file asks for more") {
  for (const char* algorithm : {"reinforce", "siblings"}) {
    const Result<Config> config = parse_config(
        std::string("architecture = \"placeto\"\nalgorithm = \"") + algorithm + "\"\n", "c.toml");
    REQUIRE(config.ok());
    CHECK(config->episodes.all_action == 0);
    CHECK(config->episodes.final_all_action == 0);
  }
  const Result<Config> config = parse_config(
      "algorithm = \"reinforce\"\narchitecture = \"placeto\"\n[episodes]\nall_action = 2\n", "");
  REQUIRE(config.ok());
  CHECK(config->episodes.all_action == 2);
}

TEST_CASE("names that keys and values had once are still read") {
  const Result<Config> old = parse_config(
      "algorithm = \"group\"\n[data]\ngroups = 7\n[collect]\ngroups = 8\n"
      "[learn]\ngroups = 9\ngraphs = 10\n",
      "c.toml", Unread::kLeft);
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
        "c.toml: algorithm: credit is for pairwise, leaps for pairwise, reinforce for placeto, "
        "siblings for both");
  CHECK(parse_config("algorithm = \"group\"\n", "c.toml").ok());
  CHECK(message_of("algorithm = \"siblings\"\n[learn]\nembedding = 8\n")
            .find("for credit and leaps") != std::string::npos);
  CHECK(message_of("[data]\nonly = 3\n").find("family") != std::string::npos);
  CHECK(message_of("[data]\nset = \"imagenet\"\n").find("cifar10") != std::string::npos);
  CHECK(message_of("[episodes]\nstarts = [\"here\"]\n").starts_with("c.toml:2: episodes.starts"));
  CHECK(message_of("[placeto]\nstart_time = 1\n")
            .starts_with("c.toml:2: placeto.start_time: no such key"));
  CHECK(message_of("[data]\nmin_nodes = 500\n").find("max_nodes") != std::string::npos);
}
