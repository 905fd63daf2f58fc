// A run folder: everything a training run leaves behind, and what --resume needs.
//
//   config.toml            copy of the configuration, to be changed where that changes no learning
//   settings.toml          the configuration that it began with
//   directory.txt          where the command ran that began it: relative paths are from there
//   data.txt               graphs and topologies of one's own, and which are held out
//   metrics.jsonl, .csv    one line per iteration
//   events.out.tfevents    the same for TensorBoard: tensorboard --logdir RUN
//   checkpoints/N.ckpt     state after N iterations; the last two are kept
//   records/N.bin          what iteration N collected, as long as a kept checkpoint needs it
//   best.plpo              the policy that did best on the held-out problems so far
//
// Every file but the metrics appears whole or not at all; checkpoints and records end in a SHA-256.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "trainer/base/config.h"
#include "trainer/train/metrics_log.h"

namespace placeto::train {

// What a run continues from.
struct Checkpoint {
  uint32_t iteration = 0;       // iterations done
  double best = 0;              // best value of the check so far; lower is better
  std::vector<double> checked;  // Check::measured of the last one; no numbers before the first
  double seconds = 0;           // spent training
  uint64_t examples = 0;        // learned from
  std::string learner;          // Algorithm::save()
};

class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  // Makes the folder if there is none, and locks it. Fails with kInvalidArgument if it holds a run
  // already, or anything that a run would write.
  Status create(std::string_view config_text);
  // Takes away what this object has made, if nothing has come of the run yet; nothing else.
  void abandon();
  // Goes to the directory in which the run began, from which its configuration names files; stays
  // where that is unknown or gone. The folder's own path has to be absolute.
  void enter_directory() const;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Takes the place of later checkpoints, whose iterations are done again.
  Status save(const Checkpoint& checkpoint, uint32_t window);
  // Iterations from which the run can continue, ascending: those of whole checkpoints, behind 0
  // while no checkpoint has been removed for later ones. kBadInput if there are checkpoints, but
  // none that is whole. `note` says which damaged ones were passed over.
  Result<std::vector<uint32_t>> beginnings(std::string* note) const;
  // The checkpoint after so many iterations, or the latest whole one. kBadInput.
  Result<Checkpoint> load(uint32_t iteration) const;
  Result<Checkpoint> load_latest() const;
  // Keeps others out as long as this lives, and removes what one that was killed left half written.
  // Fails with kInvalidArgument if another is training here; does nothing the second time.
  Status lock();
  // kBadInput, naming it, if anything of a run is there that is no regular file, or no folder:
  // before what a run can do without, or makes anew, is written in its place.
  Status check_files() const;

  // Keeps the configuration, or compares it with the one that was kept: kBadInput, naming the key,
  // if what decides learning has changed since the run began. Policies say what they were trained
  // by.
  Status keep_settings(const Config& config);
  // That comparison alone.
  Status check_settings(const Config& config) const;
  // Keeps what problems are of (ProblemSource::inventory), or compares it with what was kept:
  // kBadInput, naming a file, if the run began with others. Policies could have learned from what
  // is held out now.
  Status keep_inventory(const std::string& lines);

  // What an iteration collected, as bytes (Run::keep_records and kept_records).
  Status save_records(uint32_t iteration, std::string_view bytes);
  Result<std::string> load_records(uint32_t iteration) const;
  std::string records_path(uint32_t iteration) const;

  MetricsLog metrics() const { return MetricsLog(path_); }

 private:
  bool has(std::string_view name) const;
  Status make(const char* name, std::string_view content);
  std::string checkpoint_path(uint32_t iteration) const;
  void remove_half_written() const;
  std::vector<uint32_t> checkpoints() const;  // ascending

  std::string path_;
  std::vector<std::string> made_;  // paths that were not there before, in that order
  std::shared_ptr<void> lock_;
};

}  // namespace placeto::train
