// What commands do with what they have measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/io/write.h"
#include "trainer/data/test_sets.h"

namespace placeto::train {

bool on_terminal();

// Prints the text, on standard error if an output takes standard output, then writes the files:
// all of them, or none if anything does not arrive. Files without a path are skipped.
Status deliver(std::string_view text, std::vector<Output> files);

Status none_fits(const std::vector<TestSet>& sets);
// A line on problems that are in no result; empty if all are.
std::string note_on_memory(const std::vector<TestSet>& sets, size_t measured);

}  // namespace placeto::train
