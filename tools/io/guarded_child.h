// A function that cannot be trusted, in a process of its own: what it reads out of bounds, loops
// over or allocates ends that process and nothing else.
//
// The child is a fork: it has the function's code and what was there when it was made, but no open
// file, and may use so much memory and processor time. It answers one request after the other; one
// that kills it is answered by how it died, and the next gets a new child.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "runtime/base/result.h"
#include "runtime/base/stop.h"

namespace placeto {

struct ChildLimits {
  uint64_t memory_bytes = uint64_t{1} << 30;  // more than it was forked with
  uint32_t cpu_seconds = 10;                  // for one request
  uint32_t wall_seconds = 120;                // the same: for one that waits for ever
  uint32_t deaths = 16;                       // of children, then nothing is asked any more
};

class GuardedChild {
 public:
  // Runs in the child. May throw: the message is the answer's status.
  using Serve = std::function<std::string(const std::string& request)>;

  explicit GuardedChild(Serve serve, const ChildLimits& limits = {})
      : serve_(std::move(serve)), limits_(limits) {}
  GuardedChild(const GuardedChild&) = delete;
  GuardedChild& operator=(const GuardedChild&) = delete;
  ~GuardedChild();

  // The function's answer; kBadInput with what it threw, or how the child died ("ran out of
  // memory", ...). kInternal where there is no child to be had; kStopped, and the child is gone, if
  // `stop` says so while it works.
  Result<std::string> ask(const std::string& request, Stop* stop = nullptr);

  // Requests and answers are at most that long.
  static constexpr uint64_t kMostBytes = 64 << 20;

 private:
  Status start();
  int end();      // the exit status
  Status bury();  // why it died by itself

  Serve serve_;
  ChildLimits limits_;
  uint32_t deaths_ = 0;
  int socket_ = -1;
  int child_ = -1;
};

}  // namespace placeto
