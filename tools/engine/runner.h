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

}  // namespace placeto
