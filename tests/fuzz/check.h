// What every target demands.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/graph/text.h"

namespace placeto::fuzz {

// In every build, unlike assert: a finding is an abort, which fuzzers and CTest both notice.
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

// An input can be refused for one reason only: it is bad input. A message has to say why.
inline void check_refused(const Status& status) {
  check(status.code() == StatusCode::kBadInput, "a refused file is bad input");
  check(!status.message().empty(), "a refusal says why");
}

// Memory of exactly the input's size, at an address that is a multiple of 8: a sanitizer then sees
// the first byte read beyond it. Empty inputs too have an address.
inline std::vector<uint8_t> own_copy(const uint8_t* data, size_t size) {
  return {data, data + size};
}

// What was read can be written, and reads back as the same: equal descriptions give equal bytes.
// (Bytes are compared, since they tell NaNs and zeros apart and need no equality of descriptions.)
template <class Spec>
void check_round_trip(const Spec& spec, Result<std::vector<uint8_t>> (*encode)(const Spec&),
                      Result<Spec> (*decode)(std::span<const uint8_t>, const Limits&)) {
  const auto bytes = encode(spec);
  check(bytes.ok(), "what was read can be written");
  const auto again = decode(*bytes, {});
  check(again.ok(), "what was written can be read");
  const auto same = encode(*again);
  check(same.ok() && *same == *bytes, "a description survives being written and read");
}

}  // namespace placeto::fuzz
