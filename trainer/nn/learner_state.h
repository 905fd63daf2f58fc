// What the learners of both architectures do alike with a network, the average of its weights over
// steps, and their optimizer. For learner files alone: it brings LibTorch along.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "runtime/base/result.h"

namespace placeto::train {

struct LearnerState {
  torch::nn::Module& network;
  torch::nn::Module& average;  // of the same shape
  torch::optim::Adam& adam;
  int64_t& steps;

  // Moves the average towards the network. A short memory at first, so that the first average is
  // not the random start.
  void follow(double averaging) {
    const double keep = std::min(averaging, double(steps) / (10.0 + double(steps)));
    torch::NoGradGuard no_gradient;
    const auto from = network.parameters(), to = average.parameters();
    for (size_t i = 0; i < from.size(); ++i) to[i].mul_(keep).add_(from[i], 1 - keep);
  }

  // With the random state of LibTorch.
  std::string save() const {
    torch::serialize::OutputArchive archive, network_part, average_part, adam_part;
    network.save(network_part);
    average.save(average_part);
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

  // Loading replaces tensors whatever their shape: the caller compares them afterwards.
  Status load(const std::string& bytes) {
    try {
      std::istringstream stream(bytes);
      torch::serialize::InputArchive archive, network_part, average_part, adam_part;
      archive.load_from(stream);
      archive.read("network", network_part);
      archive.read("average", average_part);
      archive.read("adam", adam_part);
      network.load(network_part);
      average.load(average_part);
      adam.load(adam_part);
      torch::Tensor steps_taken, random;
      archive.read("steps", steps_taken);
      archive.read("random", random);
      steps = steps_taken.item<int64_t>();
      at::Generator generator = at::detail::getDefaultCPUGenerator();
      generator.set_state(random);
    } catch (const c10::Error& error) {
      return Status::bad_input(std::string("not a learner's state of this configuration: ") +
                               error.what_without_backtrace());
    }
    return {};
  }
};

}  // namespace placeto::train
