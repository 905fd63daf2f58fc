// Several hosts, one training run: data parallelism over LibTorch's c10d with Gloo.
//
// What costs time is collecting: every host visits its share of an iteration's problems. Records of
// `pairwise` policies are then exchanged, and every host learns from all of them: a run on N hosts
// ends with the very weights of a run on one. Records of `placeto` policies are too large for that:
// hosts exchange the costs along episodes and sum their gradients, which gives the weights of one
// host but for rounding. The number of hosts may change when a run is resumed. Each host writes a
// run folder of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/base/sha256.h"

namespace placeto::train {

struct HostsOptions {
  uint32_t count = 1;
  uint32_t rank = 0;               // of this host; host 0 waits for the others at `address`
  std::string address;             // of host 0, host:port
  uint32_t timeout_seconds = 600;  // a host that is not heard of for so long is gone
};

class Hosts {
 public:
  // Waits for all. kInvalidArgument if the options make no sense; kIo if not all come in time.
  static Result<std::unique_ptr<Hosts>> join(const HostsOptions& options);
  ~Hosts();

  uint32_t count() const { return options_.count; }
  uint32_t rank() const { return options_.rank; }
  // The jobs first..last-1 of `jobs` that are this host's.
  std::pair<uint32_t, uint32_t> share(uint32_t jobs) const;

  // Everybody's bytes, by rank. All hosts call it equally often. kIo if one is gone.
  Result<std::vector<std::string>> exchange(std::string_view mine);

 private:
  struct Connection;
  explicit Hosts(const HostsOptions& options);
  Status failed(const char* what, const std::string& why) const;

  HostsOptions options_;
  std::unique_ptr<Connection> connection_;
};

// What hosts tell each other in an iteration.
struct Round {
  std::string state;  // what must agree: iteration and policy, as text
  bool stop = false;  // this host has been asked to stop
  std::string records;
};

// What must agree before hosts work on an iteration together.
std::string state_of(uint32_t iteration, std::string_view config_text, const Sha256Digest& policy);

// Everybody's records, by rank; `stop` becomes true if any host stops. kBadInput if the states do
// not agree: the hosts did not start from the same configuration or checkpoint.
Result<std::vector<std::string>> exchange_round(Hosts& hosts, Round& round);

// The latest iteration from which every host can continue, of those from which this one can,
// ascending: one that was killed may have saved less than the others. `setup`: the configuration,
// and what problems are of (ProblemSource::inventory). kBadInput if there is none, or setups do not
// agree.
Result<uint32_t> agree_on_beginning(Hosts& hosts, std::string_view setup,
                                    const std::vector<uint32_t>& mine);

}  // namespace placeto::train
