// The rules of a topology, and where its numbers come from, in the words of files: those of
// schema/topology.fbs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/graph/topology.h"

namespace placeto {

const char* name_of(Contention contention);
const char* name_of(Transfer transfer);
const char* name_of(Execution execution);
const char* name_of(Dispatch dispatch);
const char* name_of(Source source);

std::optional<Execution> execution_named(std::string_view name);
std::string execution_names();  // "parallel, serial, ..."

}  // namespace placeto
