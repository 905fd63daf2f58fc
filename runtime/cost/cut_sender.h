// CutSender: what leaves a stage on its way to others, under staged execution (staged.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/cost/broadcast_link.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// How long a cut takes to whoever reads it, if nothing else is sent.
class CutWay {
 public:
  CutWay(const Problem& problem, std::span<const uint32_t> assignment, uint32_t output,
         uint32_t source)
      : problem_(problem), assignment_(assignment), output_(output), source_(source) {}

  double us(uint32_t device) {
    if (device == source_ || output_ == kControlEdge) return 0;
    if (problem_.topology().spec().transfer == Transfer::kUnicast) {
      return problem_.transfer_us(output_, source_, device) +
             problem_.topology().latency_us(source_, device);
    }
    if (broadcast_us_ < 0) {
      broadcast_us_ =
          problem_.transfer_us(output_, broadcast_link(problem_, assignment_, output_, source_));
    }
    return broadcast_us_;
  }

 private:
  const Problem& problem_;
  std::span<const uint32_t> assignment_;
  uint32_t output_, source_;
  double broadcast_us_ = -1;  // the same to all; not known yet
};

class CutSender {
 public:
  CutSender(const Problem& problem, Stop* stop)
      : problem_(problem),
        stop_(stop),
        unicast_(problem.topology().spec().transfer == Transfer::kUnicast),
        contended_(problem.topology().spec().contention == Contention::kEgress),
        channel_free_us_(problem.topology().channel_count()),
        arrival_us_(problem.device_count()),
        sent_to_(problem.device_count()) {
    destinations_.reserve(problem.device_count());
  }

  // Begins another run.
  void begin(std::span<const uint32_t> assignment, std::vector<TransferSlice>& transfers) {
    assignment_ = assignment;
    transfers_ = &transfers;
    std::fill(channel_free_us_.begin(), channel_free_us_.end(), 0);
    std::fill(sent_to_.begin(), sent_to_.end(), kNoIndex);
  }

  // Sends the output to the devices of `readers`, which are stages, at `now`: arrival_us() then
  // says when it gets there.
  void send(uint32_t output, std::span<const uint32_t> readers,
            std::span<const uint32_t> device_of_stage, double now) {
    const uint32_t source = assignment_[problem_.graph().producer(output)];
    arrival_us_[source] = now;
    list_destinations(output, source, readers, device_of_stage);
    if (destinations_.empty()) return;
    TransferSlice what{output, source, TransferSlice::kBroadcast, now, 0, 0};
    if (!unicast_) {
      const double arrival = occupy(what, broadcast_link(problem_, assignment_, output, source));
      for (uint32_t device : destinations_) arrival_us_[device] = arrival;
      return;
    }
    std::sort(destinations_.begin(), destinations_.end());
    for (uint32_t device : destinations_) {
      what.channel = problem_.topology().channel(source, device);
      what.destination = device;
      arrival_us_[device] = occupy(what, problem_.topology().link(source, device));
    }
  }
  // When what was sent last is on a device that reads it.
  double arrival_us(uint32_t device) const { return arrival_us_[device]; }

  // When the last channel is free.
  double idle_us() const {
    double last = 0;
    for (double us : channel_free_us_) last = std::max(last, us);
    return last;
  }

 private:
  void list_destinations(uint32_t output, uint32_t source, std::span<const uint32_t> readers,
                         std::span<const uint32_t> device_of_stage) {
    destinations_.clear();
    for (uint32_t reader : watched(readers, stop_)) {
      const uint32_t device = device_of_stage[reader];
      if (device == source || sent_to_[device] == output) continue;
      sent_to_[device] = output;
      destinations_.push_back(device);
    }
  }

  // Occupies what.channel from what.start_us on, or from when it is free, and sets when the
  // transfer ends and arrives. Returns the arrival.
  double occupy(TransferSlice what, const LinkParameters& link) {
    double& free_us = channel_free_us_[what.channel];
    if (contended_) what.start_us = std::max(what.start_us, free_us);
    what.end_us = what.start_us + problem_.transfer_us(what.output, link);
    what.arrival_us = what.end_us + (unicast_ ? link.latency_us : 0);
    if (contended_) free_us = what.end_us + link.gap_us;
    transfers_->push_back(what);
    return what.arrival_us;
  }

  const Problem& problem_;
  Stop* stop_;
  bool unicast_, contended_;
  std::span<const uint32_t> assignment_;
  std::vector<TransferSlice>* transfers_ = nullptr;
  std::vector<double> channel_free_us_;
  std::vector<double> arrival_us_;      // per device
  std::vector<uint32_t> sent_to_;       // per device: the last output that was sent there
  std::vector<uint32_t> destinations_;  // devices
};

}  // namespace placeto
