// The C interface: what a policy's decisions look like from outside, and what computes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/unit/capi_policies.h"

using namespace capi_test;

namespace {

struct Step {
  uint32_t sample, choice;
  std::vector<uint32_t> nodes, devices;
  std::vector<float> scores, features;
  std::vector<uint8_t> mask;
  size_t rows, columns;
  float log_probability;
};

void keep(void* context, const placeto_step* s) {
  auto& steps = *static_cast<std::vector<Step>*>(context);
  CHECK(s->struct_size == sizeof *s);
  const size_t features = s->feature_rows * s->feature_columns;
  steps.push_back({s->sample,
                   s->choice,
                   {s->nodes, s->nodes + s->node_count},
                   {s->devices, s->devices + s->device_count},
                   {s->scores, s->scores + s->device_count},
                   {s->features, s->features + features},
                   {s->mask, s->mask + s->device_count},
                   s->feature_rows,
                   s->feature_columns,
                   s->log_probability});
}

// Steps of a greedy placing and of `samples` drawn ones.
std::vector<Step> steps_of(const Graph& graph, const Topology& topology, const Policy& policy,
                           uint32_t samples, int32_t kernels = PLACETO_KERNELS_PORTABLE,
                           uint64_t seed = 1) {
  std::vector<Step> steps;
  placeto_options chosen = options();
  chosen.samples = samples;
  chosen.seed = seed;
  chosen.kernels = kernels;
  chosen.on_step = keep;
  chosen.step_context = &steps;
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_place(graph.get(), topology.get(), policy.get(), &chosen, &placement,
                                &error) == PLACETO_OK,
                  error.message);
  placeto_placement_free(placement);
  return steps;
}

// ln of the softmax over what may be chosen; `stay`: staying, with the score 0, is one choice more.
double log_softmax(const Step& step, double temperature, bool stay) {
  double sum = stay ? 1 : 0, chosen = 0;
  for (size_t i = 0; i < step.devices.size(); ++i) {
    const double scaled = static_cast<double>(step.scores[i]) / temperature;
    if (step.mask[i] != 0) sum += std::exp(scaled);
    if (step.devices[i] == step.choice) chosen = scaled;
  }
  return chosen - std::log(sum);
}

}  // namespace

TEST_CASE("every decision of a pairwise policy is reported, with its probability when drawn") {
  const Graph graph = ladder(12);
  const Topology topology = devices(3);
  const Policy policy = load(placeto::test::small_pairwise_policy());
  const std::vector<Step> steps = steps_of(graph, topology, policy, 4);
  std::set<uint32_t> samples;
  for (const Step& step : steps) {
    samples.insert(step.sample);
    REQUIRE_FALSE(step.devices.empty());
    CHECK_FALSE(step.nodes.empty());
    CHECK(step.rows == step.devices.size());
    CHECK(step.mask == std::vector<uint8_t>(step.devices.size(), 1));
    const bool moved = step.choice != PLACETO_NONE;
    CHECK(std::count(step.devices.begin(), step.devices.end(), step.choice) == (moved ? 1 : 0));
    for (const float x : step.features) CHECK(std::isfinite(x));
    if (step.sample == 0) {
      CHECK(step.log_probability == 0);
    } else {  // 0.002: what samples of `pairwise` are drawn with
      CHECK(static_cast<double>(step.log_probability) ==
            doctest::Approx(log_softmax(step, 0.002, true)).epsilon(1e-4));
    }
  }
  CHECK(samples == std::set<uint32_t>{0, 1, 2, 3, 4});
  for (uint32_t column = 0; column < steps[0].columns; ++column) {
    CHECK(std::strlen(placeto_policy_feature_name(policy.get(), column)) > 0);
  }
  CHECK(std::string(placeto_policy_feature_name(policy.get(), 0)) == "work_target");
  const auto columns = static_cast<uint32_t>(steps[0].columns);
  CHECK(std::string(placeto_policy_feature_name(policy.get(), columns)).empty());
  CHECK(std::string(placeto_policy_feature_name(nullptr, 0)).empty());
}

TEST_CASE("a placing keeps the policy it was given, whose handle on_step may free") {
  Policy policy = load(placeto::test::small_pairwise_policy());
  placeto_options chosen = options();
  chosen.samples = 4;
  chosen.on_step = [](void* context, const placeto_step*) {
    static_cast<Policy*>(context)->reset();
  };
  chosen.step_context = &policy;
  const Graph graph = ladder(12);
  const Topology topology = devices(3);
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_place(graph.get(), topology.get(), policy.get(), &chosen, &placement,
                                &error) == PLACETO_OK,
                  error.message);
  CHECK(policy == nullptr);
  placeto_placement_free(placement);
}

TEST_CASE("a placing that on_step cancels asks no more") {
  for (const auto& spec :
       {placeto::test::small_pairwise_policy(),
        placeto::test::small_placeto_policy(3, placeto::test::Looks::kAtLoads)}) {
    CAPTURE(spec.architecture);
    const Policy policy = load(spec);
    const Graph graph = ladder(40);
    const Topology topology = devices(3);
    struct Context {
      placeto_cancel* cancel = nullptr;
      int steps = 0;
    } context;
    REQUIRE(placeto_cancel_create(&context.cancel, nullptr) == PLACETO_OK);
    placeto_options chosen = options();
    chosen.method = "policy";
    chosen.cancel = context.cancel;
    chosen.step_context = &context;
    chosen.on_step = [](void* given, const placeto_step*) {
      auto& asked = *static_cast<Context*>(given);
      if (++asked.steps == 3) placeto_cancel_request(asked.cancel);
    };
    placeto_placement* placement = nullptr;
    placeto_error error;
    placeto_place(graph.get(), topology.get(), policy.get(), &chosen, &placement, &error);
    placeto_placement_free(placement);
    placeto_cancel_free(context.cancel);
    CHECK(context.steps == 3);
  }
}

TEST_CASE("bytes that are copied may start anywhere, and are too many wherever they start") {
  const std::vector<uint8_t> bytes = policy_bytes();
  std::vector<uint8_t> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  placeto_limits limits;
  REQUIRE(placeto_default_limits(&limits, sizeof limits) == PLACETO_OK);
  for (const size_t most : {bytes.size(), bytes.size() - 1}) {
    limits.max_file_bytes = most;
    placeto_policy* policy = nullptr;
    placeto_error error;
    CHECK(placeto_policy_load_memory(shifted.data() + 1, bytes.size(), PLACETO_BYTES_COPY, &limits,
                                     &policy, &error) ==
          (most == bytes.size() ? PLACETO_OK : PLACETO_BAD_INPUT));
    placeto_policy_free(policy);
  }
}

TEST_CASE("every decision of a placeto policy is reported, masked devices with it") {
  const Graph graph = ladder(4);
  const Topology topology = devices(3, 900);  // 21 nodes of 100 bytes and what they exchange
  const Policy policy =
      load(placeto::test::small_placeto_policy(3, placeto::test::Looks::kAtLoads));
  const uint32_t nodes = placeto_graph_node_count(graph.get());
  const std::vector<Step> steps = steps_of(graph, topology, policy, 2);
  CHECK(steps.size() == 3 * nodes);
  const auto columns = static_cast<uint32_t>(steps[0].columns);
  size_t masked = 0;
  for (const Step& step : steps) {
    CHECK(step.nodes.size() == 1);
    CHECK(step.devices == std::vector<uint32_t>{0, 1, 2});
    REQUIRE(step.choice < 3);
    CHECK(step.mask[step.choice] == 1);
    masked += static_cast<size_t>(std::count(step.mask.begin(), step.mask.end(), 0));
    CHECK(step.rows == nodes);
    CHECK(step.columns == columns);
    const double expected = step.sample == 0 ? 0 : log_softmax(step, 1, false);
    CHECK(static_cast<double>(step.log_probability) == doctest::Approx(expected).epsilon(1e-4));
  }
  CHECK(masked > 0);
  const auto name = [&](uint32_t column) {
    return std::string(placeto_policy_feature_name(policy.get(), column));
  };
  CHECK(name(1) == "output_bytes");
  for (const uint32_t column : {2u, 3u, 4u}) CHECK(name(column) == "placed_on");  // one per device
  CHECK(name(5) == "visited");
  CHECK(!name(columns - 1).empty());
  CHECK(name(columns).empty());
}

TEST_CASE("equal seeds draw equal decisions, other seeds others") {
  const Graph graph = ladder(12);
  const Topology topology = devices(3);
  const Policy policy = load(placeto::test::small_pairwise_policy());
  const auto choices = [&](uint64_t seed) {
    std::vector<uint32_t> list;
    for (const Step& s : steps_of(graph, topology, policy, 3, PLACETO_KERNELS_PORTABLE, seed)) {
      list.push_back(s.choice);
    }
    return list;
  };
  CHECK(choices(1) == choices(1));
  CHECK(choices(1) != choices(2));
}

TEST_CASE("oneDNN scores the steps of a policy as portable kernels do, to six digits") {
  if (placeto_has_onednn() == 0) {
    MESSAGE("without oneDNN all kernels are portable");
  }
  const Graph graph = ladder(40);
  const Topology topology = devices(4);
  const placeto::PolicySpec specs[] = {
      placeto::test::small_pairwise_policy(),
      placeto::test::published_placeto_policy(4, 2, true, 1),
  };
  for (const placeto::PolicySpec& spec : specs) {
    const Policy policy = load(spec);
    const std::vector<Step> portable = steps_of(graph, topology, policy, 0);
    REQUIRE(portable.size() > 20);
    for (const int32_t kernels : {PLACETO_KERNELS_AUTO, PLACETO_KERNELS_ONEDNN}) {
      const std::vector<Step> other = steps_of(graph, topology, policy, 0, kernels);
      size_t compared = 0;
      for (size_t i = 0; i < std::min(portable.size(), other.size()); ++i, ++compared) {
        REQUIRE(other[i].scores.size() == portable[i].scores.size());
        for (size_t d = 0; d < portable[i].scores.size(); ++d) {
          const auto a = static_cast<double>(portable[i].scores[d]);
          CHECK(std::abs(a - static_cast<double>(other[i].scores[d])) <= 1e-5 * (1 + std::abs(a)));
        }
        if (other[i].choice != portable[i].choice) break;  // from here on they place otherwise
      }
      CHECK(compared > 10);
    }
  }
}

TEST_CASE("kernels that do not exist are refused") {
  placeto_options chosen = options();
  chosen.kernels = 3;
  const Graph graph = diamond();
  const Topology topology = devices(2);
  placeto_placement* placement = nullptr;
  placeto_error error;
  CHECK(placeto_place(graph.get(), topology.get(), nullptr, &chosen, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "kernels"));
}
