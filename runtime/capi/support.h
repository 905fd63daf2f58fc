// What every function of the C interface needs: turning whatever happens inside into a status and a
// message in the caller's memory, and checking what C cannot express in types.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/message.h"
#include "runtime/base/result.h"
#include "runtime/include/placeto/placeto.h"

namespace placeto::capi {

Status invalid(Pieces message);

// Fills the caller's error, if there is one. Allocates nothing.
placeto_status report(placeto_error* error, placeto_status code, const char* message) noexcept;

// Runs the body of a function of the interface and reports what comes of it. The library throws
// nothing itself, but the standard library does, for lack of memory above all.
placeto_status run_guarded(placeto_error* error, Status (*body)(void*), void* context) noexcept;

// The same for a lambda. The handlers are many instructions, so they stand in run_guarded, once.
template <class Body>
placeto_status guarded(placeto_error* error, Body body) noexcept {
  const auto call = [](void* context) -> Status { return (*static_cast<Body*>(context))(); };
  return run_guarded(error, call, &body);
}

struct Argument {
  const void* pointer;
  const char* name;
};
// Fails for the first argument that is NULL.
Status check_not_null(std::initializer_list<Argument> arguments);

// Whether a struct of that many bytes is one of this version or of one before it.
inline bool knows_size(size_t given, size_t oldest, size_t known) {
  return given >= oldest && given <= known && given % alignof(void*) == 0;
}
Status check_struct_size(const char* type, size_t given, size_t oldest, size_t known);

// Copies a struct of the caller's, of which there are struct_size bytes and perhaps no more. What a
// later version appended is left as it is in `to`: its default.
Status read_struct_bytes(const char* type, const void* from, size_t oldest, size_t known, void* to);

// The size that the struct had in the first version with this SONAME. Whoever appends a field
// specialises it.
template <class Struct>
inline constexpr size_t kOldestSize = sizeof(Struct);
template <>
inline constexpr size_t kOldestSize<placeto_device> = offsetof(placeto_device, stage_us);
template <>
inline constexpr size_t kOldestSize<placeto_node> = offsetof(placeto_node, launches);
template <>
inline constexpr size_t kOldestSize<placeto_options> = offsetof(placeto_options, tolerance);

// `to` holds the defaults.
template <class Struct>
Status read_struct(const char* type, const Struct* from, Struct& to) {
  return read_struct_bytes(type, from, kOldestSize<Struct>, sizeof(Struct), &to);
}

// Fills a struct of the caller's as far as it goes.
Status write_struct_bytes(const char* type, const void* from, size_t oldest, size_t known,
                          void* to);
template <class Struct>
Status write_struct(const char* type, const Struct& from, Struct* to) {
  return write_struct_bytes(type, &from, kOldestSize<Struct>, sizeof(Struct), to);
}

// Fails unless index < count.
Status check_index(const char* name, uint64_t index, uint64_t count);

// Fails unless the caller's array of that many entries suffices.
Status check_capacity(const char* array, size_t capacity, size_t needed);

// Fails unless value is one of 0 .. count - 1.
Status check_choice(const char* name, int32_t value, int32_t count);

// Fails for a list without address that is said to have entries, or one of more than there can be.
Status check_list(const char* name, const void* list, size_t count);

// NULL means the defaults.
Status read_limits(const placeto_limits* from, Limits& to);

inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}
Status read_texts(const char* name, const char* const* from, size_t count,
                  std::vector<std::string>& to);

inline std::span<const uint8_t> as_bytes(const void* bytes, size_t size) {
  return {static_cast<const uint8_t*>(bytes), size};
}

// Hands bytes to the caller under the contract of placeto_graph_encode.
Status copy_out(std::span<const uint8_t> bytes, void* buffer, size_t capacity, size_t* size);

// Fails unless a struct that the caller filled in is one of this version or of one before it.
template <class Struct>
Status check_size(const char* type, const Struct& given) {
  return check_struct_size(type, given.struct_size, kOldestSize<Struct>, sizeof(Struct));
}

// The body of every placeto_default_ function.
template <class Struct>
placeto_status set_defaults(Struct* to, size_t struct_size, const Struct& defaults) noexcept {
  if (to == nullptr || !knows_size(struct_size, kOldestSize<Struct>, sizeof(Struct))) {
    return PLACETO_INVALID_ARGUMENT;
  }
  std::memcpy(static_cast<void*>(to), &defaults, struct_size);
  to->struct_size = struct_size;
  return PLACETO_OK;
}

}  // namespace placeto::capi
