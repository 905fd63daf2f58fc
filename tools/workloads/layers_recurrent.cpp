// The elementwise operators of recurrent cells; their matrix products are dense layers.
#include "tools/workloads/layers.h"

namespace placeto {

LstmState lstm_cell(NetworkBuilder& b, const std::string& name, Tensor gates,
                    Tensor previous_cell) {
  const Shape shape = b.shape(previous_cell);
  const uint64_t n = elements(shape);
  // Three sigmoids, two hyperbolic tangents, three products and one sum for each element.
  const std::vector<Tensor> outputs = b.record({.name = name,
                                                .op = "LstmCell",
                                                .inputs = {gates, previous_cell},
                                                .outputs = {{shape}, {shape}},
                                                .flops = product({n, 5 * kFunctionFlops + 4})});
  b.add_backward(outputs[0], {.op = "LstmCellGrad",
                              .saved = {gates, previous_cell, outputs[1]},
                              .inputs = {0, 1},
                              .flops = product({n, 5 * kFunctionFlops + 20})});
  return {outputs[0], outputs[1]};
}

Tensor highway(NetworkBuilder& b, const std::string& name, Tensor gate, Tensor candidate,
               Tensor previous) {
  const Shape shape = b.shape(previous);
  const uint64_t n = elements(shape);
  const Tensor y = b.record1({.name = name,
                              .op = "Highway",
                              .inputs = {gate, candidate, previous},
                              .outputs = {{shape}},
                              .flops = product({n, 3})});
  b.add_backward(y, {.op = "HighwayGrad",
                     .saved = {gate, candidate, previous},
                     .inputs = {0, 1, 2},
                     .flops = product({n, 5})});
  return y;
}

}  // namespace placeto
