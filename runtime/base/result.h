// Status and Result<T>: how every fallible function of the runtime reports.
//
// No exceptions cross a function of this library on purpose: hosts link it into servers that are
// built without them. An input error is a Status with a message a person can act on (where it is,
// what is wrong, what was expected); a broken invariant is an assert.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace placeto {

enum class StatusCode : int {
  kOk = 0,
  kInfeasible = 1,       // no placement satisfies memory, allowed kinds, colocation and pins
  kInvalidArgument = 2,  // the caller's options make no sense
  kBadInput = 3,         // a file or graph is malformed; the message says where
  kInternal = 4,
  kOutOfMemory = 5,
  kIo = 6,              // a file cannot be opened, read or written
  kBufferTooSmall = 7,  // a caller's, of the C interface
  kStopped = 8,         // cancelled, or past the deadline, before there was a placement
  kNotFound = 9,        // no placement that fits in memory was found, though there may be one
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status infeasible(std::string m) noexcept;
  static Status invalid(std::string m) noexcept;
  static Status bad_input(std::string m) noexcept;
  static Status internal(std::string m) noexcept;
  static Status io(std::string m) noexcept;
  static Status stopped() {
    return {StatusCode::kStopped,
            "cancelled, or past the deadline, before a placement that fits was found"};
  }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with "where: " in front, e.g. the file the failing object came from.
  Status at(std::string_view where) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// Either a T or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // The same value, or the same error with "where: " in front.
  Result at(std::string_view where) && {
    if (!ok()) return status_.at(where);
    return std::move(*this);
  }

  T& value() & { return assert(ok()), *value_; }
  const T& value() const& { return assert(ok()), *value_; }
  T&& value() && { return assert(ok()), std::move(*value_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace placeto
