#include "trainer/base/config.h"

#include <doctest/doctest.h>

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

TEST_CASE("errors of a configuration name file, line and key") {
  CHECK(message_of("seed = 1\nseeds = 2\n") == "c.toml:2: seeds: no such key");
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
  CHECK(message_of("algorithm = \"reinforce\"\n").find("for placeto") != std::string::npos);
  CHECK(parse_config("algorithm = \"group\"\n", "c.toml").ok());
  CHECK(message_of("algorithm = \"group\"\n[learn]\nembedding = 8\n").find("for credit") !=
        std::string::npos);
  CHECK(message_of("[data]\nonly = 3\n").find("family") != std::string::npos);
  CHECK(message_of("[data]\nset = \"imagenet\"\n").find("cifar10") != std::string::npos);
  CHECK(message_of("[episodes]\nstarts = [\"here\"]\n").starts_with("c.toml:2: episodes.starts"));
  CHECK(message_of("[placeto]\nstart_time = 1\n").starts_with("c.toml:2: placeto.start_time"));
  CHECK(message_of("[data]\nmin_nodes = 500\n").find("max_nodes") != std::string::npos);
}
