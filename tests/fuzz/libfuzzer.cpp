// libFuzzer's entry, compiled once per target with PLACETO_FUZZ_TARGET set to its function.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)placeto::fuzz::PLACETO_FUZZ_TARGET(data, size);
  return 0;  // 1 would be reserved
}
