#include "tools/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "runtime/placer/placer.h"
#include "tools/devices/providers.h"
#include "tools/engine/description.h"
#include "tools/io/scratch.h"
#include "tools/tune/confirm.h"
#include "tools/tune/contenders.h"
#include "tools/tune/hand_out.h"
#include "tools/tune/outputs.h"
#include "tools/tune/predict.h"
#include "tools/tune/profile_model.h"
#include "tools/tune/unplaced.h"

namespace placeto {
namespace {

constexpr const char* kEngine = "onnxruntime";
// Prediction and measurement agree.
constexpr double kAgreement = 0.03;

// Beside the directory that is handed out.
std::string work_path(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory + ".work";
}

class Tuner {
 public:
  Tuner(const Topology& topology, const TuneOptions& options)
      : machine_(topology.spec()),
        options_(options),
        sessions_(options),
        scratch_(work_path(options.directory)) {
    sessions_.dims = dims_of_whole(options.dims, options.set);
    machine_.execution = Execution::kStaged;  // that is how the runner runs
  }

  Result<TuneResult> run();
  // What went wrong, told of the caller's model instead of the copy that it happened to, and of
  // what is handed out instead of what was to become it.
  Status told(const Status& status) const;

 private:
  Status start();
  Status keep_expected();
  Status restrict_providers(const Graph& graph, const Topology& topology, Rules& rules);
  Status round(bool& settled);
  Result<std::vector<Runnable*>> place();
  Status add_placed(const Problem& problem, const Candidate& candidate,
                    std::vector<Runnable*>& fresh);
  Status deliver(const TuneResult& result);
  std::string name_of_single(uint32_t device) const;
  const Runnable* one_device(const std::string& kind = "") const;
  void say(const std::string& text) const {
    if (options_.progress) options_.progress(text);
  }

  TopologySpec machine_;  // stage prices are corrected
  const TuneOptions& options_;
  TuneOptions sessions_;  // for what runs, of which some is the model as it came
  Scratch scratch_;       // for everything that is not handed out
  std::optional<NewDirectory> target_;
  ProfiledModel model_;
  std::unique_ptr<StagedModel> whole_;
  std::vector<ModelOutput> expected_;  // of the model as it came; empty: none can be compared
  EngineDescription engine_;           // which operators providers have
  std::vector<std::string> engine_notes_, notes_;
  std::vector<std::unique_ptr<Runnable>> contenders_;
  std::set<std::pair<Assignment, std::vector<uint32_t>>> seen_;  // with stages
  uint32_t rounds_ = 0;
};

Status Tuner::start() {
  if (scratch_.root().empty()) return Status::io(options_.directory + ": no folder beside it");
  if (Status s = engine_status(); !s.ok()) return s;
  auto engine = EngineDescription::load(kEngine);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  auto target = NewDirectory::create(options_.directory);
  if (!target.ok()) return target.status();
  target_.emplace(*std::move(target));
  const auto topology = Topology::build(machine_);
  if (!topology.ok()) return topology.status();
  auto model = profile_model(*topology, options_, scratch_.root());
  if (!model.ok()) return model.status();
  model_ = *std::move(model);
  if (options_.stopped()) return Status::stopped();
  say(fmt::format("{} nodes, {:.1f} us {}", model_.spec.nodes.size(), model_.whole_us,
                  words_of(model_.reference)));
  SessionSettings alone;
  alone.dims = options_.dims;
  alone.providers = {model_.reference};
  auto whole = StagedModel::open(whole_model("model.onnx", machine_.devices[0].name),
                                 scratch_.root(), alone);
  if (!whole.ok()) return whole.status();
  whole_ = *std::move(whole);
  if (Status s = fill_model_inputs(*whole_, options_.inputs); !s.ok()) return s;
  if (Status s = whole_->prepare(); !s.ok()) return s;
  return keep_expected();
}

Status Tuner::keep_expected() {
  auto outputs = outputs_of_model(sessions_);
  if (outputs.ok()) {
    expected_ = *std::move(outputs);
  } else if (outputs.status().code() == StatusCode::kInvalidArgument) {
    notes_.push_back("outputs were not compared: " + outputs.status().message());
  } else {
    return outputs.status();
  }
  return {};
}

std::string Tuner::name_of_single(uint32_t device) const {
  if (model_.spec.kinds.size() < 2) return "one device";
  return "one device (" + machine_.devices[device].name + ")";
}

Status Tuner::add_placed(const Problem& problem, const Candidate& candidate,
                         std::vector<Runnable*>& fresh) {
  Simulator simulator(problem);
  Timeline timeline = simulator.run(candidate.assignment, candidate.division);
  if (!seen_.emplace(candidate.assignment, timeline.stage_of).second) return {};
  auto contender = std::make_unique<Runnable>();
  contender->placement = describe_placement(problem.graph(), problem.topology(),
                                            candidate.assignment, timeline, candidate.method);
  contender->placement.engine = kEngine;
  for (const DimSetting& dim : options_.dims) {
    contender->placement.dims.push_back(dim_text(dim));
  }
  contender->predicted = std::move(timeline);
  contender->directory = fmt::format("{}/stages_{}", scratch_.root(), contenders_.size());
  if (Status s = write_stages(model_, problem.graph(), *contender); !s.ok()) {
    return s;
  }
  note_prediction(options_.objective, model_.whole_us, *contender);
  Contender& info = contender->info;
  info.threads = options_.threads;
  info.name = info.stages == 1
                  ? name_of_single(candidate.assignment.front())
                  : fmt::format("{} stages on {} device{} ({})", info.stages, info.devices,
                                info.devices == 1 ? "" : "s", candidate.method);
  if (Status s = open_contender(sessions_, *contender); !s.ok()) return s;
  fresh.push_back(contender.get());
  contenders_.push_back(std::move(contender));
  return {};
}

// Nothing is placed on what has no kernel for it: the engine would run it on the processor, within
// a stage that is thought to run elsewhere.
Status Tuner::restrict_providers(const Graph& graph, const Topology& topology, Rules& rules) {
  const auto& providers = options_.providers;
  std::vector<std::string> wishes;
  for (size_t d = 0; d < providers.size(); ++d) {
    if (provider_named(providers[d]) == "cpu" || !engine_.knows(providers[d])) continue;
    wishes.push_back(machine_.devices[d].name + "=" + providers[d]);
  }
  if (wishes.empty()) return {};
  EngineNotes notes;
  const Status s = engine_.restrict(graph, topology, wishes, rules, notes);
  engine_notes_ = notes.all();
  return s;
}

Result<std::vector<Runnable*>> Tuner::place() {
  std::vector<Runnable*> fresh;
  const auto graph = Graph::build(model_.spec);
  if (!graph.ok()) return graph.status();
  const auto topology = Topology::build(machine_);
  if (!topology.ok()) return topology.status();
  Rules rules;
  rules.objective = options_.objective;
  if (Status s = restrict_providers(*graph, *topology, rules); !s.ok()) return s;
  const auto problem = Problem::build(*graph, *topology, rules);
  if (!problem.ok()) return problem.status();
  MethodOptions method;
  method.budget.evaluations = options_.evaluations;
  Stop stop(options_.interrupted);
  method.stop = &stop;
  PlacerOptions placer;
  placer.policy = options_.policy;
  auto placed = place_auto(*problem, method, placer);
  if (!placed.ok()) return placed.status();
  if (options_.stopped()) return Status::stopped();
  std::vector<Candidate> candidates = std::move(placed->candidates);
  candidates.push_back(placed->best);
  std::erase_if(candidates, [](const Candidate& c) { return !c.score.feasible(); });
  std::stable_sort(candidates.begin(), candidates.end(), is_better);
  // One device of each kind runs, whatever is predicted of the others.
  std::set<std::string> singles;
  size_t most = options_.finalists;
  for (const Candidate& candidate : candidates) {
    const auto only = only_device(candidate.assignment);
    if (only && !singles.insert(machine_.devices[*only].kind).second) continue;
    if (!only && fresh.size() >= most) continue;
    const size_t before = fresh.size();
    if (Status s = add_placed(*problem, candidate, fresh); !s.ok()) return s;
    if (singles.size() > 1 && only) most += fresh.size() - before;
  }
  return fresh;
}

// Places, runs what is new together with one device, and learns. Settled: nothing is new, or what
// was predicted of it is right.
Status Tuner::round(bool& settled) {
  if (options_.stopped()) return Status::stopped();
  auto fresh = place();
  if (!fresh.ok()) return fresh.status();
  settled = fresh->empty();
  if (settled) return {};
  std::vector<Runnable*> turn = *fresh;
  if (rounds_ == 0) {
    if (one_device() != nullptr) {
      auto unplaced = unplaced_contenders(machine_, sessions_, model_.file, notes_);
      if (!unplaced.ok()) return unplaced.status();
      std::move(unplaced->begin(), unplaced->end(), std::back_inserter(contenders_));
    }
    turn.clear();
    for (const auto& contender : contenders_) turn.push_back(contender.get());
  }
  if (Status s = run_contenders(sessions_, turn, *whole_, model_.whole_us, options_.runs);
      !s.ok()) {
    return s;
  }
  if (!expected_.empty()) {
    if (Status s = compare_outputs(options_, turn, expected_); !s.ok()) return s;
  }
  double worst = 0;
  for (const Runnable* contender : turn) {
    const Contender& info = contender->info;
    worst = std::max(worst, info.error());
    say(fmt::format(
        "  {}: {:.3f} of the whole {}{}", info.name, info.over_whole, words_of(model_.reference),
        info.predicted_us > 0 ? fmt::format(", predicted {:.3f}", info.predicted_over_whole) : ""));
  }
  close_slow(contenders_);
  settled = worst <= kAgreement;
  if (settled || options_.objective != Objective::kLatency) return {};
  return correct_costs(*fresh, model_, machine_);
}

// The fastest of those, of one kind of device or of all; nullptr: none fits.
const Runnable* Tuner::one_device(const std::string& kind) const {
  const Runnable* best = nullptr;
  for (const auto& contender : contenders_) {
    const Contender& info = contender->info;
    if (info.way != Contender::Way::kPlaced || info.stages != 1) continue;
    const uint32_t device = contender->placement.assignment.front();
    if (!kind.empty() && machine_.devices[device].kind != kind) continue;
    if (best == nullptr || info.over_whole < best->info.over_whole) best = contender.get();
  }
  return best;
}

// The winner, predicted by itself if it was placed, else by one device like its own.
Status Tuner::deliver(const TuneResult& result) {
  if (options_.stopped()) return Status::stopped();
  const Runnable& winner = *contenders_[result.chosen];
  const bool placed = winner.info.way == Contender::Way::kPlaced;
  const Runnable* like = placed ? &winner : one_device(machine_.devices[winner.device].kind);
  const Runnable& measured = like != nullptr ? *like : *one_device();
  return hand_out({model_, machine_, result, winner, measured}, options_, scratch_.root(),
                  *target_);
}

Result<TuneResult> Tuner::run() {
  if (Status s = start(); !s.ok()) return s;
  bool settled = false;
  for (; rounds_ < options_.rounds && !settled; ++rounds_) {
    say(fmt::format("round {} of at most {}", rounds_ + 1, options_.rounds));
    if (Status s = round(settled); !s.ok()) return s;
  }
  const std::vector<size_t> eligible = without_deviating(contenders_, notes_);
  const Result<std::vector<size_t>> confirmed =
      confirm(sessions_, contenders_, eligible, one_device(), *whole_, model_.whole_us);
  if (!confirmed.ok()) return confirmed.status();
  if (Status s = predict_from_stages(model_, machine_, options_.objective, contenders_); !s.ok()) {
    return s;
  }
  TuneResult result;
  result.rounds = rounds_;
  result.whole_us = model_.whole_us;
  result.notes = engine_notes_;
  result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
  for (const auto& contender : contenders_) result.contenders.push_back(contender->info);
  std::vector<Contender> choice;
  for (const size_t i : *confirmed) choice.push_back(result.contenders[i]);
  result.chosen = (*confirmed)[choose(choice, options_.tolerance)];
  result.why =
      explain_choice(result.contenders, result.chosen, options_.tolerance, model_.reference);
  if (Status s = deliver(result); !s.ok()) return s;
  return result;
}

Status Tuner::told(const Status& status) const {
  std::string message = status.message();
  if (status.code() == StatusCode::kIo) {  // nothing was there to be read
    if (const size_t at = message.find(scratch_.root()); at != std::string::npos) {
      message.replace(at, scratch_.root().size(), options_.directory);
    }
    const Status told{status.code(), std::move(message)};
    return target_ ? target_->told(told) : told;
  }
  for (const char* file : {"/model.onnx", "/set/stage_0.onnx"}) {
    const std::string copy = scratch_.root() + file;
    if (const size_t at = message.find(copy); at != std::string::npos) {
      message.replace(at, copy.size(), options_.model);
    }
  }
  const std::string record = scratch_.root() + "/profile_", json = ".json";
  if (const size_t at = message.find(record); at != std::string::npos) {
    const size_t end = std::min(message.find(json, at), message.size() - json.size());
    message.replace(at, end + json.size() - at, "the engine's profile of " + options_.model);
  }
  return {status.code(), std::move(message)};
}

}  // namespace

Result<TuneResult> tune(const Topology& topology, const TuneOptions& options) {
  Tuner tuner(topology, options);
  Result<TuneResult> result = tuner.run();
  if (!result.ok()) return tuner.told(result.status());
  return result;
}

}  // namespace placeto
