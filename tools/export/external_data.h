// Weights that an ONNX model keeps in files beside it.
//
// A tensor names a file relative to the model's folder, an offset and a length. Engines refuse
// paths that leave the folder, so a model that is written elsewhere needs its own copy; a stage's
// file holds what that stage reads and nothing else, and can be sent to the device's host alone.
#pragma once

#include <onnx/onnx_pb.h>
#include <sys/types.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// Whether any tensor of the model, in nodes, bodies and functions too, is in another file.
bool has_external_data(const onnx::ModelProto& model);

// What such tensors call their files, each once.
std::set<std::string> external_locations(const onnx::ModelProto& model);

// The files below a model's folder that its tensors take weights from, and how much all its stages
// have copied of them.
class ExternalFiles {
 public:
  // `model`: the model's path. Its folder is where the path says; if it is a symbolic link, where
  // the link leads, too (caches keep models and their weights under other names in one folder).
  // Once `interrupted` is set, nothing more is copied: kStopped.
  explicit ExternalFiles(const std::string& model, const std::atomic<bool>* interrupted = nullptr);

  // Copies what the model's tensors take into one new file, `path`, and makes them name it as
  // `location`; what several tensors share is copied once, whatever they call its file. No file is
  // made if there are no such tensors. Never holds more than a megabyte of weights in memory. Fails
  // with kBadInput for a path that leaves the folder, also by a symbolic link, for a range that is
  // not in its file, for tensors that overlap so much that they hold more than all the files, and
  // for stages whose files take more than kMostCopies times that, padding and all; and with kIo
  // when a file cannot be read or written.
  Status gather(onnx::ModelProto& model, const std::string& path, const std::string& location);

  static constexpr uint64_t kMostCopies = 64;

 private:
  friend class Gatherer;
  // A file has one, however it is called: "w.bin", "./w.bin", by symbolic and hard links.
  using Identity = std::pair<dev_t, ino_t>;
  struct Source {
    std::string path;  // without symbolic links
    uint64_t bytes = 0;
    Identity identity;
  };
  Result<Source> find(const std::string& location);

  const std::atomic<bool>* interrupted_;
  std::string folder_;                     // as given
  std::vector<std::string> within_;        // without symbolic links
  std::map<std::string, Source> sources_;  // by location
  std::set<Identity> files_;
  uint64_t all_bytes_ = 0, copied_ = 0;
};

}  // namespace placeto
