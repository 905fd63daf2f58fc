#include "trainer/algorithms/algorithm.h"

namespace placeto::train {

std::unique_ptr<Algorithm> make_algorithm(const Config& config) {
  if (config.algorithm == "credit") return make_credit(config);
  if (config.algorithm == "reinforce") return make_reinforce(config);
  return config.architecture == "pairwise" ? make_pairwise_siblings(config)
                                           : make_published_siblings(config);
}

}  // namespace placeto::train
