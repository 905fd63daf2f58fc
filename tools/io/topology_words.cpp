#include "tools/io/topology_words.h"

#include <topology_generated.h>

#include "tools/io/reflection.h"

namespace placeto {

// The runtime's enumerations have the schema's numbers: runtime/format/topology_file.cpp checks it.
const char* name_of(Contention contention) {
  return schema::EnumNameContention(static_cast<schema::Contention>(contention));
}
const char* name_of(Transfer transfer) {
  return schema::EnumNameTransfer(static_cast<schema::Transfer>(transfer));
}
const char* name_of(Execution execution) {
  return schema::EnumNameExecution(static_cast<schema::Execution>(execution));
}
const char* name_of(Dispatch dispatch) {
  return schema::EnumNameDispatch(static_cast<schema::Dispatch>(dispatch));
}
const char* name_of(Source source) {
  return schema::EnumNameSource(static_cast<schema::Source>(source));
}

std::optional<Execution> execution_named(std::string_view name) {
  for (const schema::Execution execution : schema::EnumValuesExecution()) {
    if (name == schema::EnumNameExecution(execution)) return static_cast<Execution>(execution);
  }
  return std::nullopt;
}

std::string execution_names() {
  return names_of(schema::ExecutionTypeTable());
}

}  // namespace placeto
