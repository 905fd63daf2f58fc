// The bottleneck: how long the busiest part of a pipeline is taken by one run, which is the
// interval of runs that overlap.
//
// A device runs its nodes; its intake receives what other devices send it, and a channel carries
// what it is given, one tensor after another. Devices that feed each other in a circle are no
// stages of a pipeline: a run comes back to them, and the next cannot simply follow. They count as
// one, with all their times and those of the transfers between them. But where the graph makes a
// run come back, no pipeline does without, and the next run has its turn in between: a node that
// shares its device with one before (weights of the first and the last layer, a layer and its
// gradient), and one that cannot run where its input is made (what only the processor can), or that
// shares its device with one that cannot. Rules of the caller do not count: who simulates the
// placement may not have them.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Not shareable between threads; the problem must outlive it. No call after the first allocates.
class Bottleneck {
 public:
  explicit Bottleneck(const Problem& problem);

  // `device_us`: what each device is taken by its nodes. Fills in what channels are by transfers:
  // which there are follows from the placement, whatever their times. Incomplete once stopped.
  double find(std::span<const uint32_t> assignment, std::span<const double> device_us,
              std::span<double> channel_us, Stop* stop);
  // The devices of the busiest circle or intake that was found last; a channel has none.
  std::span<const uint32_t> busiest() const { return busiest_; }

 private:
  void find_returns(Stop* stop);
  bool comes_back(const OutEdge& out, uint32_t device) const;
  void list_devices(std::span<const uint32_t> assignment, Stop* stop);
  void leave(uint32_t row);
  void gather(uint32_t row, uint32_t circle);
  void add_transfers(std::span<const uint32_t> assignment, uint32_t output,
                     std::span<double> channel_us, Stop* stop);

  const Problem* problem_;
  bool knows_returns_ = false;
  std::vector<bool> returns_;         // by out-edge: to a set that the run has been at; empty: none
  std::vector<uint32_t> set_;         // of nodes that share a device, by node; empty: there is none
  std::vector<uint8_t> cannot_run_;   // sets x classes of devices
  std::vector<uint32_t> row_, used_;  // of devices with nodes; the devices of rows
  std::vector<uint8_t> feeds_;        // rows x rows
  std::vector<uint32_t> left_, circle_;  // rows, last first; the circle of each
  std::vector<uint32_t> path_;           // rows that a walk still has to go on from
  std::vector<double> intake_us_, circle_us_;
  std::vector<uint32_t> seen_;                    // by device: the output last counted there
  std::vector<uint32_t> destinations_, busiest_;  // devices
};

}  // namespace placeto
