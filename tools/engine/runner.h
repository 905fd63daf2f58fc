// A placed model that serves requests: its sessions (staged_model.h) and the threads that run them
// (workers.h). What `placeto run` measures, and what a server links.
//
//   auto runner = Runner::open("net.stages", settings);        // or a manifest of its own
//   fill((*runner)->model().input(0, 0));                      // something that the model takes
//   (*runner)->start();                                        // first run; memory; threads
//   fill((*runner)->model().input(slot, 0));                   // per request
//   (*runner)->workers().submit(slot);
//   (*runner)->workers().wait(slot);
//   (*runner)->model().output(slot, 0);
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/engine/staged_model.h"
#include "tools/engine/workers.h"

namespace placeto {

class Runner {
 public:
  // `path`: the directory that `placeto export --split` made, its manifest (.json), or else an ONNX
  // model, which then runs whole on one device called cpu:0. Threads and slots: as in `settings`,
  // of `workers` only the rest is read.
  static Result<std::unique_ptr<Runner>> open(const std::string& path,
                                              const SessionSettings& settings,
                                              const WorkerOptions& workers = {});
  static Result<std::unique_ptr<Runner>> open(const Manifest& manifest,
                                              const std::string& directory,
                                              const SessionSettings& settings,
                                              const WorkerOptions& workers = {});

  // Before the first request, once the inputs of slot 0 are there.
  Status start();

  StagedModel& model() { return *model_; }
  const Manifest& manifest() const { return model_->manifest(); }
  Workers& workers() { return *workers_; }  // after start()

 private:
  Runner(std::unique_ptr<StagedModel> model, WorkerOptions options)
      : model_(std::move(model)), options_(std::move(options)) {}

  std::unique_ptr<StagedModel> model_;
  WorkerOptions options_;
  std::unique_ptr<Workers> workers_;  // last: its threads use the model
};

// As Runner::open reads `path`.
Result<Manifest> manifest_of(const std::string& path, std::string& directory);

// Fills every input of slot 0 with numbers that are the same on every run; those of `given`, by
// name, with the content of a file or with one number in all elements.
struct GivenInput {
  std::string name, source;
};
// "NAME=FILE.npy", "NAME=FILE", "NAME=3" or "NAME=true", which is 1: kInvalidArgument for anything
// else.
Result<GivenInput> parse_given_input(const std::string& text);
Status fill_model_inputs(StagedModel& model, const std::vector<GivenInput>& given);

// The numbers for a whole model that runs beside stages: where inputs are set, it has others that
// only a branch reads that is not taken, and nobody says how large. They are as small as can be.
std::vector<DimSetting> dims_of_whole(std::span<const DimSetting> dims,
                                      std::span<const InputSetting> set);

// Of those of the whole model's inputs that the stages do not have (Manifest::set), slot 0.
Status fill_set_inputs(StagedModel& whole, std::span<const InputSetting> set);

// Fails with kBadInput, naming them, when one model has outputs that the other lacks: the stages
// are then those of another model.
Status check_same_outputs(const StagedModel& actual, const StagedModel& expected);
// What a model gave back for slot 0, kept.
struct ModelOutput {
  std::string name;
  Element element = Element::kUndefined;
  std::vector<std::byte> bytes;
};
// Fails with kInvalidArgument where an output is none that has bytes: texts, sequences.
Result<std::vector<ModelOutput>> keep_outputs(const StagedModel& model);
// The deviation (tensor.h) of each output of the latter, of slot 0, and how far it may deviate by
// the types of `actual`. Fails as keep_outputs does, and with kBadInput where one is lacking.
struct OutputDeviation {
  std::string name;
  double deviation = 0, tolerance = 0;

  bool exceeded() const { return deviation > tolerance; }
};
Result<std::vector<OutputDeviation>> output_deviations(const StagedModel& actual,
                                                       std::span<const ModelOutput> expected);
// The one that is furthest beyond its tolerance, or nearest to it. There is one.
const OutputDeviation& worst_of(std::span<const OutputDeviation> deviations);

}  // namespace placeto
