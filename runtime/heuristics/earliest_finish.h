// The decision that HEFT and the repeated passes share: the device on which a node, or the whole
// group it is colocated with, does best given what is placed so far.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/change.h"
#include "runtime/heuristics/group_devices.h"
#include "runtime/heuristics/memory_plan.h"
#include "runtime/heuristics/window_schedule.h"

namespace placeto {

// What is known of an earlier placement and its simulated timeline; nothing before the first pass.
struct LastPlacement {
  std::span<const uint32_t> assignment = {};     // predicts the devices of nodes not placed yet
  std::span<const double> latest_start_us = {};  // of each node, without a longer run
};

// What a device costs beside the node's finish there. A node that looks at nothing else leaves for
// a small gain that its consumers pay back.
struct PassRule {
  enum class Kind {
    kFinish,     // nothing
    kTransfers,  // weight x transfer times to the predicted devices of its consumers
    kLateness,   // how late that makes the consumer that can wait least, plus weight x the finish
  };
  Kind kind = Kind::kFinish;
  double weight = 0;

  // Any of them: no rule is best everywhere.
  static PassRule draw(Random& random);
};

class EarliestFinish {
 public:
  explicit EarliestFinish(const Problem& problem, Stop* stop = nullptr);

  // Places every node in `order` (predecessors first) where it costs least by `rule`; without a
  // last timeline that is its earliest finish. Incomplete once stopped.
  Assignment place_all(std::span<const uint32_t> order, const LastPlacement& last,
                       const PassRule& rule, MemoryPlan& plan);

  // The timeline that windows are placed into: the run, spans and `plan`, which is to hold its
  // groups, are used until the next one is loaded. Once stopped, this object is of no more use.
  void load(const Queues& run, const LastPlacement& last, MemoryPlan& plan);

  // Which part of a window is kept.
  enum class Keep {
    kAll,
    kLeastLate,  // up to where ending it makes what follows least late, of a few ends looked at
  };

  // Places the nodes of a window of that timeline alone; all others stay. A group moves with the
  // first of its nodes. Sets `changes` to what differs from the timeline in the part that is kept;
  // nothing once stopped. Returns WindowSchedule::lateness_behind_us for that part, infinity where
  // nothing differs. What makes something `too_late_us` late or later is not kept, and not placed
  // to the end where that shows before: then that is what it returns.
  double place_window(Window window, const PassRule& rule, Keep keep, std::vector<Change>& changes,
                      double too_late_us = kNever);

 private:
  uint64_t work_of(uint32_t node) const;
  uint32_t decide_in_window(uint32_t node, Window window, const PassRule& rule);
  // Where the group of a node goes that is met first. Without a last timeline its heaviest member
  // decides.
  uint32_t choose(uint32_t met, const LastPlacement& last, const PassRule& rule,
                  const MemoryPlan& plan);
  uint32_t roomiest(uint32_t group, const MemoryPlan& plan) const;
  void find_readers(uint32_t node, const LastPlacement& last);
  double lateness_us(uint32_t device, double finish_us) const;
  void add_transfer(uint32_t output, uint32_t producer_device, uint32_t consumer_device,
                    double weight);
  void add_sources(uint32_t node, uint32_t group, const LastPlacement& last);
  void add_targets(uint32_t node, uint32_t group, double weight, const LastPlacement& last);
  uint32_t known_device(uint32_t node, const LastPlacement& last) const;

  struct Reader {        // a consumer of the node that is placed
    uint32_t device;     // where it was
    uint32_t output;     // what it reads, where links differ; else kControlEdge
    double transfer_us;  // from any other device, where links are alike
    double latest_start_us;
  };

  const Problem* problem_;
  Stop* stop_;
  WindowSchedule schedule_;
  GroupDevices devices_;
  std::vector<double> ready_, penalty_;
  std::vector<Reader> readers_;
  LastPlacement last_;          // loaded
  MemoryPlan* plan_ = nullptr;  // of it
  // The first position of each group in the loaded timeline, of nodes that are not free; the groups
  // decided in the window, and what follows them.
  std::vector<uint32_t> first_, within_;
};

}  // namespace placeto
