// The C interface: placings that a flag or a deadline ends.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <thread>

#include "tests/unit/capi_support.h"

using namespace capi_test;

TEST_CASE("a cancelled placing ends at once, with what there is") {
  const Graph graph = ladder(40);
  const Topology topology = devices(3);
  placeto_cancel* cancel = nullptr;
  placeto_error error;
  CHECK(placeto_cancel_create(nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  REQUIRE(placeto_cancel_create(&cancel, &error) == PLACETO_OK);
  placeto_options chosen = options();
  chosen.cancel = cancel;
  chosen.budget_milliseconds = 600'000;
  std::thread other([cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    placeto_cancel_request(cancel);
  });
  // A slow machine may have nothing when the request comes.
  const auto ends = [&] {
    const placeto_status status = try_place(graph, topology, chosen, error);
    return status == PLACETO_OK || status == PLACETO_STOPPED;
  };
  CHECK(ends());  // would take ten minutes
  other.join();
  CHECK(ends());  // still cancelled

  // After a reset the search runs to the end of its budget, as without the object.
  placeto_cancel_reset(cancel);
  chosen.budget_milliseconds = 0;
  chosen.budget_evaluations = 300;
  const std::vector<uint32_t> with = assignment_of(place(graph, topology, chosen));
  chosen.cancel = nullptr;
  CHECK(assignment_of(place(graph, topology, chosen)) == with);
  placeto_cancel_free(cancel);
}

TEST_CASE("a small graph is placed even if the flag is already set or the deadline over") {
  placeto_cancel* cancel = nullptr;
  REQUIRE(placeto_cancel_create(&cancel, nullptr) == PLACETO_OK);
  placeto_cancel_request(cancel);
  const Topology topology = devices(8);
  for (const uint32_t rungs : {1u, 40u, 200u}) {
    CAPTURE(rungs);
    const Graph graph = ladder(rungs);
    for (const bool late : {false, true}) {
      placeto_options chosen = options();
      chosen.budget_milliseconds = 600'000;
      if (late) chosen.deadline_milliseconds = 1e-6;
      if (!late) chosen.cancel = cancel;
      const Placement placed = place(graph, topology, chosen);
      CHECK(placeto_placement_feasible(placed.get()) == 1);
      CHECK(placeto_placement_stopped(placed.get()) != PLACETO_COMPLETE);
      CHECK(placeto_placement_makespan_us(placed.get()) > 0);
    }
  }
  placeto_cancel_free(cancel);
}

TEST_CASE("a deadline ends a placing with the best so far, or with a status if there is none") {
  const Graph graph = ladder(3000);
  const Topology topology = devices(4);
  placeto_error error;
  placeto_options chosen = options();
  for (const double nonsense : {-1.0, HUGE_VAL, std::nan("")}) {
    chosen.deadline_milliseconds = nonsense;
    CHECK(try_place(graph, topology, chosen, error) == PLACETO_INVALID_ARGUMENT);
    CHECK(mentions(error, "deadline_milliseconds"));
  }
  chosen.deadline_milliseconds = 1e-6;
  CHECK(try_place(graph, topology, chosen, error) == PLACETO_STOPPED);
  CHECK(mentions(error, "deadline"));

  // With a search that would take ten minutes, some deadline lies after the first placement.
  chosen.budget_milliseconds = 600'000;
  chosen.deadline_milliseconds = 10;
  placeto_placement* placement = nullptr;
  while (placeto_place(graph.get(), topology.get(), nullptr, &chosen, &placement, &error) ==
         PLACETO_STOPPED) {
    chosen.deadline_milliseconds *= 2;
  }
  const Placement placed(placement);
  REQUIRE(error.status == PLACETO_OK);
  CHECK(placeto_placement_feasible(placement) == 1);
  CHECK(placeto_placement_makespan_us(placement) > 0);
  const int32_t stopped = placeto_placement_stopped(placement);
  CHECK(stopped != PLACETO_COMPLETE);
  std::vector<double> start_us(6000);
  const placeto_status times =
      placeto_placement_times(placement, start_us.data(), nullptr, start_us.size(), &error);
  CHECK(times == (stopped == PLACETO_NOT_SIMULATED ? PLACETO_STOPPED : PLACETO_OK));
  size_t size = 0;
  CHECK(placeto_placement_encode(placement, nullptr, 0, &size, &error) == times);
  const Placement scored = score(graph, topology, assignment_of(placed));
  CHECK(placeto_placement_makespan_us(scored.get()) == placeto_placement_makespan_us(placement));
  CHECK(placeto_placement_stopped(scored.get()) == PLACETO_COMPLETE);
  CHECK(placeto_placement_stopped(nullptr) == PLACETO_COMPLETE);
}

TEST_CASE("candidates of a stopped placing for throughput have their makespan, or none") {
  placeto_cancel* cancel = nullptr;
  REQUIRE(placeto_cancel_create(&cancel, nullptr) == PLACETO_OK);
  const Graph graph = ladder(40);
  const Topology topology = devices(4);
  placeto_options chosen = options();
  chosen.objective = PLACETO_THROUGHPUT;
  const auto makespans = [&] {
    const Placement placed = place(graph, topology, chosen);
    std::map<std::string, double> found;
    for (size_t i = 0; i < placeto_placement_candidate_count(placed.get()); ++i) {
      placeto_candidate candidate{};
      candidate.struct_size = sizeof candidate;
      REQUIRE(placeto_placement_candidate(placed.get(), i, &candidate, nullptr) == PLACETO_OK);
      found[candidate.method] = candidate.makespan_us;
    }
    return found;
  };
  const std::map<std::string, double> whole = makespans();
  for (const auto& [method, us] : whole) CHECK(us > 0);
  placeto_cancel_request(cancel);
  chosen.cancel = cancel;
  const std::map<std::string, double> cut = makespans();
  CHECK(!cut.empty());
  for (const auto& [method, us] : cut) CHECK((us == 0 || us == whole.at(method)));
  placeto_cancel_free(cancel);
}
