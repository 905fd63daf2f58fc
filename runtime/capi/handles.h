// The objects behind the opaque handles. What is immutable is shared by reference count, so that
// callers may free their handles in any order.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "runtime/include/placeto/placeto.h"
#include "runtime/placer/explain.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/file/policy.h"

struct placeto_policy {
  std::shared_ptr<const placeto::Policy> value;
};

struct placeto_graph {
  std::shared_ptr<const placeto::Graph> value;
  // What placeto_node points to: of all nodes, one after the other, allowed_kinds and input_types.
  std::vector<const char*> texts;
  std::vector<size_t> texts_begin;  // of each node, in that list
};

struct placeto_topology {
  std::shared_ptr<const placeto::Topology> value;
};

struct placeto_graph_builder {
  placeto::GraphSpec spec;
};

struct placeto_topology_builder {
  placeto::TopologySpec spec;
};

struct placeto_cancel {
  std::atomic<bool> requested{false};
};

struct placeto_placement {
  placeto_placement(std::shared_ptr<const placeto::Graph> g,
                    std::shared_ptr<const placeto::Topology> t, placeto::Problem p)
      : graph(std::move(g)), topology(std::move(t)), problem(std::move(p)) {}

  // The problem refers to the two, so it comes after them.
  std::shared_ptr<const placeto::Graph> graph;
  std::shared_ptr<const placeto::Topology> topology;
  placeto::Problem problem;

  placeto::PlaceResult result;                    // its candidates without their placements
  std::vector<double> makespan_us;                // of each candidate
  std::unique_ptr<placeto::Explainer> explainer;  // of the best; made by the first explanation
};
