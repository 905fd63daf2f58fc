#include "runtime/base/result.h"

#include "runtime/base/message.h"

namespace placeto {

Status Status::infeasible(std::string m) noexcept {
  return {StatusCode::kInfeasible, std::move(m)};
}
Status Status::invalid(std::string m) noexcept {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
Status Status::bad_input(std::string m) noexcept {
  return {StatusCode::kBadInput, std::move(m)};
}
Status Status::internal(std::string m) noexcept {
  return {StatusCode::kInternal, std::move(m)};
}
Status Status::io(std::string m) noexcept {
  return {StatusCode::kIo, std::move(m)};
}

Status Status::at(std::string_view where) const {
  return ok() ? *this : Status(code_, join({where, ": ", message_}));
}

}  // namespace placeto
