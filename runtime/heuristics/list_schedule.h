// ListSchedule: a partial schedule that grows node by node, as list schedulers need it.
//
// It predicts when a node could start on each device, given what is placed so far, with the cost
// model's egress queues but without its event order: a node is appended to its device, a transfer
// to its channel. Cheap and close; the simulator has the last word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/cost/problem.h"

namespace placeto {

class ListSchedule {
 public:
  explicit ListSchedule(const Problem& problem, Stop* stop = nullptr);

  // Before the first use and between uses; incomplete once stopped.
  void clear();

  // Earliest time at which everything `node` needs is on each device; ready.size() == devices.
  // Every predecessor has been placed, or counts for nothing.
  void ready_times(uint32_t node, std::span<double> ready) const;
  // When the device has finished what it was given.
  double device_free_us(uint32_t device) const { return device_free_[device]; }
  double first_free_us() const {
    return *std::min_element(device_free_.begin(), device_free_.end());
  }

  // Appends the node to the device and the transfers it needs to their channels.
  void place(uint32_t node, uint32_t device);

  // For a node that takes no time and waits for nothing: there from the beginning.
  void place_free(uint32_t node, uint32_t device) {
    device_of_[node] = device;
    finish_[node] = 0;
  }

  std::span<const uint32_t> assignment() const { return device_of_; }

 protected:
  static constexpr double kNotSent = -1;

  // From a device to a different one.
  double transfer_us(uint32_t output, uint32_t source, uint32_t destination) const {
    return uniform_us_ != nullptr ? uniform_us_[output]
                                  : problem_->transfer_us(output, source, destination);
  }
  double transfer_with_latency_us(uint32_t output, uint32_t source, uint32_t destination) const {
    return transfer_us(output, source, destination) +
           problem_->topology().latency_us(source, destination);
  }
  // When an output of `producer`, which is on the device `source`, is on another one: sent before,
  // or now.
  double arrival_us(uint32_t producer, uint32_t output, uint32_t source,
                    uint32_t destination) const {
    const double known = arrived_[slot_of(output, destination)];
    return known != kNotSent ? known : next_arrival_us(producer, output, source, destination);
  }
  // The same, and it is sent from then on.
  double send(uint32_t producer, uint32_t output, uint32_t source, uint32_t destination) {
    double& slot = sent_slot(output, destination);
    if (slot == kNotSent) slot = send_now(producer, output, source, destination);
    return slot;
  }
  double send_now(uint32_t producer, uint32_t output, uint32_t source, uint32_t destination) {
    const double arrival = next_arrival_us(producer, output, source, destination);
    if (contended_) {
      const Topology& topology = problem_->topology();
      channel_free_[topology.channel(source, destination)] =
          arrival - topology.latency_us(source, destination) +
          topology.link(source, destination).gap_us;
    }
    return arrival;
  }
  size_t slot_of(uint32_t output, uint32_t destination) const {
    return apart_ ? size_t{output} * problem_->device_count() + destination : output;
  }
  double& sent_slot(uint32_t output, uint32_t destination) {
    return arrived_[slot_of(output, destination)];
  }

  std::span<double> arrivals(uint32_t output) {
    const size_t width = apart_ ? problem_->device_count() : 1;
    return {arrived_.data() + output * width, width};
  }

  const Problem* problem_;
  Stop* stop_;
  bool apart_, contended_;
  std::vector<double> device_free_, channel_free_, finish_;
  std::vector<double> arrived_;  // per output (apart: and destination), or kNotSent
  std::vector<uint32_t> device_of_;

 private:
  double next_arrival_us(uint32_t producer, uint32_t output, uint32_t source,
                         uint32_t destination) const {
    double start = finish_[producer];
    if (contended_) {
      start = std::max(start, channel_free_[problem_->topology().channel(source, destination)]);
    }
    return start + transfer_with_latency_us(output, source, destination);
  }
  void ready_by_latest_two(std::span<const InEdge> in_edges, std::span<double> ready) const;

  const double* uniform_us_;  // transfer times per output, where links are alike
};

}  // namespace placeto
