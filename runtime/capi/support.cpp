#include "runtime/capi/support.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace placeto::capi {
namespace {

constexpr char kCut[] = "...";

// Bytes of a UTF-8 text that fit, without splitting a character.
size_t whole_characters(const char* text, size_t fit) {
  while (fit > 0 && (static_cast<unsigned char>(text[fit]) & 0xc0u) == 0x80u) --fit;
  return fit;
}

}  // namespace

Status invalid(Pieces message) {
  return Status::invalid(join(message));
}

placeto_status report(placeto_error* error, placeto_status code, const char* message) noexcept {
  if (error == nullptr) return code;
  error->status = code;
  const size_t length = std::strlen(message), room = sizeof error->message - 1;
  if (length <= room) {
    std::memcpy(error->message, message, length + 1);
    return code;
  }
  const size_t kept = whole_characters(message, room - (sizeof kCut - 1));
  std::memcpy(error->message, message, kept);
  std::memcpy(error->message + kept, kCut, sizeof kCut);
  return code;
}

static placeto_status report(placeto_error* error, const Status& status) {
  return report(error, static_cast<placeto_status>(status.code()), status.message().c_str());
}

#if defined(__cpp_exceptions)

placeto_status run_guarded(placeto_error* error, Status (*body)(void*), void* context) noexcept {
  try {
    return report(error, body(context));
  } catch (const std::bad_alloc&) {
    return report(error, PLACETO_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return report(error, PLACETO_OUT_OF_MEMORY,
                  "out of memory: a list would pass its largest size");
  } catch (const std::exception& e) {
    return report(error, PLACETO_INTERNAL, e.what());
  } catch (...) {
    return report(error, PLACETO_INTERNAL, "unknown exception");
  }
}

#else  // PLACETO_EXCEPTIONS=OFF: what the standard library would throw ends the program

placeto_status run_guarded(placeto_error* error, Status (*body)(void*), void* context) noexcept {
  return report(error, body(context));
}

#endif

Status check_not_null(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.pointer == nullptr) return invalid({argument.name, " is NULL"});
  }
  return {};
}

Status check_struct_size(const char* type, size_t given, size_t oldest, size_t known) {
  if (knows_size(given, oldest, known)) return {};
  return invalid({type, ": struct_size is ", given, ", expected ", known,
                  ": fill the struct with its placeto_default_ function, or set struct_size"});
}

Status read_struct_bytes(const char* type, const void* from, size_t oldest, size_t known,
                         void* to) {
  size_t given = 0;
  std::memcpy(&given, from, sizeof given);
  if (Status s = check_struct_size(type, given, oldest, known); !s.ok()) return s;
  std::memcpy(to, from, given);
  return {};
}

Status write_struct_bytes(const char* type, const void* from, size_t oldest, size_t known,
                          void* to) {
  size_t given = 0;
  std::memcpy(&given, to, sizeof given);
  if (Status s = check_struct_size(type, given, oldest, known); !s.ok()) return s;
  constexpr size_t kSize = sizeof(size_t);  // struct_size comes first, and stays
  std::memcpy(static_cast<char*>(to) + kSize, static_cast<const char*>(from) + kSize,
              given - kSize);
  return {};
}

Status check_index(const char* name, uint64_t index, uint64_t count) {
  if (index < count) return {};
  return invalid({name, " is ", index, ", expected less than ", count});
}

Status check_capacity(const char* array, size_t capacity, size_t needed) {
  if (capacity >= needed) return {};
  return {StatusCode::kBufferTooSmall,
          join({array, ": capacity is ", capacity, ", expected at least ", needed})};
}

Status check_choice(const char* name, int32_t value, int32_t count) {
  if (value >= 0 && value < count) return {};
  return invalid({name, " is ", value, ", expected 0 to ", count - 1});
}

Status check_list(const char* name, const void* list, size_t count) {
  constexpr size_t kMost = PLACETO_NONE;  // nothing here is numbered beyond
  if (count > kMost) {
    return invalid({name, " is said to have ", count, " entries, expected at most ", kMost});
  }
  if (list != nullptr || count == 0) return {};
  return invalid({name, " is NULL, expected ", count, " entries"});
}

Status read_texts(const char* name, const char* const* from, size_t count,
                  std::vector<std::string>& to) {
  if (Status s = check_list(name, from, count); !s.ok()) return s;
  to.clear();
  for (size_t i = 0; i < count; ++i) {
    if (from[i] == nullptr) {
      return invalid({name, "[", i, "] is NULL"});
    }
    to.emplace_back(from[i]);
  }
  return {};
}

Status copy_out(std::span<const uint8_t> bytes, void* buffer, size_t capacity, size_t* size) {
  *size = bytes.size();
  if (buffer == nullptr) return {};
  if (Status s = check_capacity("buffer", capacity, bytes.size()); !s.ok()) return s;
  if (!bytes.empty()) std::memcpy(buffer, bytes.data(), bytes.size());
  return {};
}

}  // namespace placeto::capi
