#include "tools/tune/predict.h"

#include <algorithm>
#include <utility>

namespace placeto {

void note_prediction(Objective objective, double whole_us, Runnable& contender) {
  contender.info.predicted_us = objective == Objective::kLatency
                                    ? contender.predicted.makespan_us
                                    : contender.predicted.bottleneck_us;
  contender.info.predicted_over_whole = contender.info.predicted_us / whole_us;
}

Status correct_costs(std::span<Runnable* const> measured, ProfiledModel& model,
                     TopologySpec& machine) {
  const auto graph = Graph::build(model.spec);
  if (!graph.ok()) return graph.status();
  const auto topology = Topology::build(machine);
  if (!topology.ok()) return topology.status();
  std::vector<StageObservation> observations;
  for (const Runnable* contender : measured) {
    if (contender->info.way != Contender::Way::kPlaced || contender->info.stages < 2) continue;
    auto seen = observations_of(*topology, *graph, *contender);
    if (!seen.ok()) return seen.status();
    for (StageObservation& stage : *seen) observations.push_back(std::move(stage));
  }
  if (observations.empty()) return {};
  std::vector<std::vector<double>> costs = costs_of(model.spec);
  const Feedback feedback = learn(costs, observations);
  for (size_t k = 0; k < costs.size(); ++k) {
    for (size_t v = 0; v < costs[k].size(); ++v) {
      if (costs[k][v] > 0) costs[k][v] *= feedback.factor[k][v];
    }
  }
  set_costs(model.spec, costs);
  const std::vector<std::string>& kinds = model.spec.kinds;
  for (DeviceSpec& device : machine.devices) {
    const auto kind = std::find(kinds.begin(), kinds.end(), device.kind) - kinds.begin();
    device.stage_us =
        std::max(0.0, device.stage_us + feedback.stage_excess_us[static_cast<size_t>(kind)]);
  }
  return {};
}

Status predict_from_stages(const ProfiledModel& model, const TopologySpec& machine,
                           Objective objective,
                           std::span<const std::unique_ptr<Runnable>> contenders) {
  const auto graph = Graph::build(model.spec);
  if (!graph.ok()) return graph.status();
  const auto topology = Topology::build(machine);
  if (!topology.ok()) return topology.status();
  for (const auto& contender : contenders) {
    if (contender->stage_us.empty() || contender->info.way != Contender::Way::kPlaced) continue;
    const Division division = recorded_division(contender->predicted);
    const auto run_with = [&](const Graph& costs) -> Status {
      const auto problem = Problem::build(costs, *topology, {});
      if (!problem.ok()) return problem.status();
      contender->predicted = Simulator(*problem).run(contender->placement.assignment, division);
      return {};
    };
    if (Status s = run_with(*graph); !s.ok()) return s;  // for the prices that hold by now
    const auto stages = observations_of(*topology, *graph, *contender);
    if (!stages.ok()) return stages.status();
    GraphSpec measured = model.spec;
    contender->costs = fit(costs_of(measured), *stages);
    set_costs(measured, contender->costs);
    const auto fitted = Graph::build(measured);
    if (!fitted.ok()) return fitted.status();
    if (Status s = run_with(*fitted); !s.ok()) return s;
    note_prediction(objective, model.whole_us, *contender);
  }
  return {};
}

}  // namespace placeto
