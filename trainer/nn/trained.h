// Trained: a network, the average of its weights over steps, and their optimizer: what learners of
// every architecture hold. For files that see LibTorch.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "runtime/base/result.h"
#include "trainer/nn/seeded.h"

namespace placeto::train {

// `Net` is a module holder with has_shape().
template <class Net>
struct Trained {
  // Weights are drawn by seed; the average begins as the network. LibTorch computes on
  // `processor_`, with one thread if that is the CPU.
  template <class Shape>
  Trained(uint64_t seed, double averaging_, torch::Device processor_, const Shape& shape)
      : processor(processor_),
        network(drawn(seed, shape)),
        average(drawn(seed, shape)),
        adam(network->parameters(), torch::optim::AdamOptions()),
        averaging(averaging_) {
    mix(0);
    adam.zero_grad();
  }

  // One step of the optimizer with the gradients there are, which are then gone.
  void step(double learning_rate) {
    for (auto& part : adam.param_groups()) {
      static_cast<torch::optim::AdamOptions&>(part.options()).lr(learning_rate);
    }
    adam.step();
    adam.zero_grad();
    ++steps;
    follow();
  }

  // Moves the average towards the network. A short memory at first, so that the first average is
  // not the random start.
  void follow() { mix(std::min(averaging, double(steps) / (10.0 + double(steps)))); }

  std::string save() const {
    torch::serialize::OutputArchive archive, network_part, average_part, adam_part;
    network->save(network_part);
    average->save(average_part);
    adam.save(adam_part);
    archive.write("network", network_part);
    archive.write("average", average_part);
    archive.write("adam", adam_part);
    archive.write("steps", torch::tensor(steps));
    archive.write("random", at::detail::getDefaultCPUGenerator().get_state());
    std::ostringstream stream;
    archive.save_to(stream);
    return stream.str();
  }

  Status load(const std::string& bytes) {
    try {
      std::istringstream stream(bytes);
      torch::serialize::InputArchive archive, network_part, average_part, adam_part;
      archive.load_from(stream, processor);
      archive.read("network", network_part);
      archive.read("average", average_part);
      archive.read("adam", adam_part);
      network->load(network_part);
      average->load(average_part);
      adam.load(adam_part);
      torch::Tensor steps_taken, random;
      archive.read("steps", steps_taken);
      archive.read("random", random);
      steps = steps_taken.item<int64_t>();
      at::Generator generator = at::detail::getDefaultCPUGenerator();
      generator.set_state(random.cpu());
    } catch (const c10::Error& error) {
      return Status::bad_input(std::string("not a learner's state of this configuration: ") +
                               error.what_without_backtrace());
    }
    // Loading replaces tensors whatever their shape.
    if (network->has_shape() && average->has_shape()) return {};
    return Status::bad_input("state of a learner with other networks");
  }

  torch::Device processor;
  mutable Net network, average;  // LibTorch does not tell what changes a module
  mutable torch::optim::Adam adam;
  double averaging;
  int64_t steps = 0;

 private:
  template <class Shape>
  Net drawn(uint64_t seed, const Shape& shape) const {
    Net net = make_seeded(seed, [&] { return Net(shape); });
    net->to(processor);
    return net;
  }

  void mix(double keep) {
    torch::NoGradGuard no_gradient;
    const auto from = network->parameters(), to = average->parameters();
    for (size_t i = 0; i < from.size(); ++i) {
      if (keep == 0)
        to[i].copy_(from[i]);
      else
        to[i].mul_(keep).add_(from[i], 1 - keep);
    }
  }
};

}  // namespace placeto::train
