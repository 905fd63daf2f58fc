// Small models that are made to be measured, as bytes of ONNX files.
#pragma once

#include <cstdint>
#include <string>

namespace placeto {

// Whether this build can write them (libonnx).
bool can_make_probes();

// x[n, n] times a weight, `length` times: 2 n^3 operations each.
std::string product_probe(uint32_t n, uint32_t length);
// a + b + b + ... of so many float32 each: three times their bytes pass through memory in each of
// the `length` additions.
std::string addition_probe(uint64_t count, uint32_t length);
// `width` chains, side by side, of `length` operators each that cost little beside their bytes;
// every tensor has `count` float32. Tensors are called t<chain>_<position>, the first `first`.
std::string chain_probe(uint32_t first, uint32_t length, uint32_t width, uint64_t count);
// One chain of products of a vector of `count` with a square weight: little passes, much is read.
std::string working_chain_probe(uint32_t first, uint32_t length, uint64_t count);
std::string chain_tensor(uint32_t chain, uint32_t position);

}  // namespace placeto
