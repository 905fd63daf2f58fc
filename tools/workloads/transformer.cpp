#include "tools/workloads/transformer.h"

namespace placeto {

Tensor self_attention(NetworkBuilder& b, const std::string& name, Tensor x) {
  const Shape shape = b.shape(x);
  const uint64_t batch = shape[0], length = shape[1], hidden = shape[2];
  const uint64_t heads = hidden / kHeadSize;
  const Tensor query = dense(b, name + "/query", x, hidden);
  const Tensor key = dense(b, name + "/key", x, hidden);
  const Tensor value = dense(b, name + "/value", x, hidden);
  const uint64_t groups = product({batch, heads});
  const Tensor scores = batch_matmul(b, name + "/scores", query, key,
                                     {.groups = groups,
                                      .m = length,
                                      .k = kHeadSize,
                                      .n = length,
                                      .shape = {batch, heads, length, length}});
  const Tensor weights = softmax(b, name + "/softmax", scores);
  const Tensor mixed =
      batch_matmul(b, name + "/mix", weights, value,
                   {.groups = groups, .m = length, .k = length, .n = kHeadSize, .shape = shape});
  return dense(b, name + "/output", mixed, hidden);
}

Tensor feed_forward(NetworkBuilder& b, const std::string& name, Tensor x) {
  const uint64_t hidden = b.shape(x).back();
  x = dense(b, name + "/in", x, product({4, hidden}));
  x = activation(b, name + "/gelu", x, Nonlinearity::kGelu);
  return dense(b, name + "/out", x, hidden);
}

Tensor take_rows(NetworkBuilder& b, const std::string& name, Tensor x, Shape rows) {
  Shape shape = std::move(rows);
  shape.insert(shape.begin(), b.shape(x)[0]);
  shape.push_back(b.shape(x).back());
  const uint64_t moved = product({2, elements(shape), kFloatBytes});
  const Tensor y = b.record1({.name = name,
                              .op = "TakeRows",
                              .inputs = {x},
                              .outputs = {{shape}},
                              .bytes_accessed = moved});
  b.add_backward(y, {.op = "TakeRowsGrad", .inputs = {0}});
  return y;
}

Status check_heads(uint64_t hidden) {
  if (hidden % kHeadSize == 0) return {};
  return Status::invalid("option hidden is " + std::to_string(hidden) +
                         ", expected a multiple of the head size " + std::to_string(kHeadSize));
}

}  // namespace placeto
