// libFuzzer's entries, compiled once per target with PLACETO_FUZZ_TARGET set to its function.
#include <algorithm>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)placeto::fuzz::PLACETO_FUZZ_TARGET(data, size);
  return 0;  // 1 would be reserved
}

#ifdef PLACETO_FUZZ_STRUCTURES
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Mostly changes that keep the input a file of its format, sometimes the fuzzer's own.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  placeto::Random random(seed);
  std::vector<uint8_t> bytes(data, data + size);
  bool changed = false;
  if (random.below(8) != 0) {
    for (uint32_t left = 1 + random.below(3); left > 0; --left) {
      changed |= placeto::fuzz::mutate_structure(bytes, max_size, random);
    }
  }
  if (!changed || bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
#endif
