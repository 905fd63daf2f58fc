#include "tools/io/json_text.h"

#include <nlohmann/json.hpp>

namespace placeto {

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace placeto
