// Memory of a simulated run: who holds how many bytes, where, from when to when (DESIGN 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/uncleared.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// Bytes that the device of each group holds at some time beside resident bytes, whatever the
// placement: for that one of its nodes that needs most while it runs, its inputs, outputs and
// workspace. Zeros for groups not looked at once stopped.
std::vector<uint64_t> bytes_while_running(const Problem& problem, Stop* stop = nullptr);

// By how many bytes peaks, one for each device, exceed the limits, all devices together.
uint64_t overflow_bytes(const Problem& problem, std::span<const uint64_t> peak);

// A change of the bytes held on a device. What is freed and what is taken at one instant do not
// overlap: intervals are half open. Times count as they are computed, sums of doubles: what is
// taken and freed at times that are equal but for rounding may overlap by the last bit, and then
// counts as held at once.
struct MemoryChange {
  double time_us;
  int64_t bytes;
};

// Turns timelines into memory use. Resident bytes count from the start to the end of the run; a
// node's workspace while it runs; each output from its producer's start to the finish of its last
// consumer on that device (or of the producer, if there is none); each received copy from its
// arrival to the finish of its last consumer there. Keeps its buffers between calls.
class MemoryMeter {
 public:
  explicit MemoryMeter(const Problem& problem, Stop* stop = nullptr);

  // Peak bytes per device. `timeline` needs start_us, finish_us and transfers. False if stopped.
  bool peaks(std::span<const uint32_t> assignment, const Timeline& timeline,
             std::vector<uint64_t>& peak);
  // Changes on one device by the last peaks(), in time order, after the resident bytes.
  std::span<const MemoryChange> changes(uint32_t device) const {
    return {changes_.data() + begin_[device], changes_.data() + begin_[device + 1]};
  }
  uint64_t resident_bytes(uint32_t device) const { return resident_[device]; }

 private:
  void list_transfers(std::span<const TransferSlice> transfers);
  template <class LastRead, class Hold>
  void each_copy(std::span<const uint32_t> assignment, const Timeline& timeline, uint32_t output,
                 const LastRead& last_read, const Hold& hold);
  template <class Visit>
  void each_interval(std::span<const uint32_t> assignment, const Timeline& timeline, Visit visit);

  const Problem* problem_;
  Stop* stop_;
  std::vector<uint64_t> resident_;
  Uncleared<MemoryChange> changes_, sorted_;  // the second: room for sorting
  std::vector<uint32_t> begin_, end_;
  std::vector<uint32_t> first_transfer_;  // per output; its others follow
  Uncleared<uint32_t> next_transfer_;     // per transfer
  static constexpr double kUnread = -1;
  std::vector<double> last_finish_;  // per device, of the consumers of one output
};

}  // namespace placeto
