// What the targets of the three JSON forms share.
#pragma once

#include <string>

#include "runtime/format/file_kind.h"
#include "tests/fuzz/check.h"
#include "tools/io/json_forms.h"
#include "tools/io/json_reader.h"
#include "tools/io/json_scanner.h"
#include "tools/io/write.h"

namespace placeto::fuzz {

// JSON text to description, as tools read it. Refusals are checked.
template <class Spec>
Result<Spec> read_json(std::string_view text, FileKind kind,
                       Result<Spec> (*decode)(std::span<const uint8_t>, const Limits&)) {
  const auto buffer = json_to_buffer(text, kind);
  if (!buffer.ok()) return check_refused(buffer.status()), buffer.status();
  check(detect(*buffer) == kind, "the buffer is of the kind asked for");
  auto spec = decode(*buffer, {});
  if (!spec.ok()) check_refused(spec.status());
  return spec;
}

// A description that holds no number or text that JSON lacks survives being written as JSON.
template <class Spec>
void check_json_round_trip(const Spec& spec, FileKind kind,
                           Result<std::vector<uint8_t>> (*encode)(const Spec&),
                           Result<Spec> (*decode)(std::span<const uint8_t>, const Limits&)) {
  const Result<std::string> text = to_json(spec);
  check(text.ok(), "what was read as JSON can be written as JSON");
  check(looks_like_json(*text), "JSON is recognised");
  const auto again = read_json(*text, kind, decode);
  check(again.ok(), "JSON that was written can be read");
  const auto before = encode(spec), after = encode(*again);
  check(before.ok() && after.ok() && *before == *after, "a description survives JSON");
}

}  // namespace placeto::fuzz
