// Policies on the command line.
#include <doctest/doctest.h>

#include "runtime/policy/file/policy_file.h"
#include "tests/cli/runner.h"
#include "tests/support/small_policies.h"

using namespace placeto::test;

namespace {

struct PolicyScene : SmallScene {
  std::string write_policy(const std::string& name, const placeto::PolicySpec& spec) {
    const auto bytes = placeto::encode_policy(spec).value();
    return write(name, std::string(bytes.begin(), bytes.end()));
  }
  std::vector<std::string> candidates(const nlohmann::json& placement) {
    std::vector<std::string> names;
    for (const auto& candidate : placement["candidates"]) names.push_back(candidate["method"]);
    return names;
  }
};

bool has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

}  // namespace

TEST_CASE("a policy that is named takes part in placing, and 'none' leaves it out") {
  PolicyScene f;
  const std::string policy = f.write_policy("p.plpo", small_pairwise_policy());
  const Run with = f.run({"place", f.graph, "-t", f.topology, "--policy", policy, "--json"});
  REQUIRE_MESSAGE(with.status == 0, with.err);
  CHECK(has(f.candidates(nlohmann::json::parse(with.out)), "policy"));
  const Run without = f.run({"place", f.graph, "-t", f.topology, "--policy", "none", "--json"});
  REQUIRE(without.status == 0);
  CHECK(!has(f.candidates(nlohmann::json::parse(without.out)), "policy"));
}

TEST_CASE("method policy is what the policy makes, alone") {
  PolicyScene f;
  const std::string policy = f.write_policy("p.plpo", small_pairwise_policy());
  const Run run = f.run({"place", f.graph, "-t", f.topology, "-m", "policy", "--policy", policy,
                         "--samples", "3", "--json"});
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(f.candidates(nlohmann::json::parse(run.out)) == std::vector<std::string>{"policy"});
}

TEST_CASE("a policy for another number of devices is left out, with a note that says so") {
  PolicyScene f;
  const std::string policy = f.write_policy("p.plpo", small_placeto_policy(7, Looks::kAtLoads));
  const Run run = f.run({"place", f.graph, "-t", f.topology, "--policy", policy, "--json"});
  REQUIRE_MESSAGE(run.status == 0, run.err);
  const auto placement = nlohmann::json::parse(run.out);
  CHECK(!has(f.candidates(placement), "policy"));
  CHECK(placement["note"].get<std::string>().find("7") != std::string::npos);
  const Run alone = f.run({"place", f.graph, "-t", f.topology, "-m", "policy", "--policy", policy});
  CHECK(alone.status == 2);
}

TEST_CASE("a policy with a feature this runtime lacks is refused by its name") {
  PolicyScene f;
  placeto::PolicySpec spec = small_pairwise_policy();
  spec.pair_features[0].name = "phase_of_the_moon";
  const std::string policy = f.write_policy("p.plpo", spec);
  const Run run = f.run({"place", f.graph, "-t", f.topology, "--policy", policy});
  CHECK(run.status == 3);
  CHECK(run.err.find("p.plpo") != std::string::npos);
  CHECK(run.err.find("phase_of_the_moon") != std::string::npos);
}

TEST_CASE("inspect shows what a policy is made of") {
  PolicyScene f;
  const std::string policy = f.write_policy("p.plpo", small_pairwise_policy());
  const Run table = f.run({"inspect", policy});
  REQUIRE_MESSAGE(table.status == 0, table.err);
  CHECK(table.out.find("pairwise") != std::string::npos);
  const Run described = f.run({"inspect", policy, "--json"});
  REQUIRE(described.status == 0);
  const auto object = nlohmann::json::parse(described.out);
  CHECK(object["kind"] == "policy");
  CHECK(object["sha256"].get<std::string>().size() == 64);
  CHECK(object["pair_features"].size() == small_pairwise_policy().pair_features.size());
}

TEST_CASE("explain gives a row for every node asked for") {
  PolicyScene f;
  const Run run =
      f.run({"place", f.graph, "-t", f.topology, "--policy", "none", "--explain", "all"});
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(run.out.find("second best") != std::string::npos);
  CHECK(f.run({"place", f.graph, "-t", f.topology, "--explain", "no such node"}).status == 2);
}

TEST_CASE("explain puts its reasons into the object of --json, which stays a placement") {
  PolicyScene f;
  const auto object = f.run_json(
      {"place", f.graph, "-t", f.topology, "--policy", "none", "--explain", "all", "--json"});
  REQUIRE(object["reasons"].size() == 6);
  for (size_t v = 0; v < 6; ++v) {
    const auto& reason = object["reasons"][v];
    CHECK(reason["node"] == v);
    CHECK(reason["device"] == object["assignment"][v]);
    CHECK(reason["second_device"] == 1 - object["assignment"][v].get<int>());
    CHECK(reason["cost_us"] == object["makespan_us"]);
    CHECK(reason["second_cost_us"].get<double>() > 0);
    CHECK(reason["second_feasible"] == true);
  }
  const std::string path = f.write("explained.json", object.dump());
  const Run again = f.run({"simulate", f.graph, "-t", f.topology, "--placement", path});
  CHECK_MESSAGE(again.status == 0, again.err);
  const auto one = f.run_json({"place", f.graph, "-t", f.topology, "--explain", "b", "--json"});
  REQUIRE(one["reasons"].size() == 1);
  CHECK(one["reasons"][0]["node"] == 1);
}

TEST_CASE("inspect shows the policy that ships by its name, unless a file has it") {
  PolicyScene f;
  const auto shipped = f.run_json({"inspect", "default", "--json"});
  CHECK(shipped.at("kind") == "policy");
  CHECK(f.run({"inspect", "default"}).out.find("pairwise") != std::string::npos);
  f.write_policy("default", small_placeto_policy(7, Looks::kAtLoads));
  CHECK(f.run_json({"inspect", "default", "--json"}).at("devices") == 7);
}
