// What commands do with what they have measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/io/interruption.h"
#include "tools/io/write.h"
#include "trainer/data/test_sets.h"

namespace placeto::train {

size_t count_problems(const std::vector<TestSet>& sets);

// Prints the text, on standard error if an output takes standard output, then writes the files:
// all of them, or none if anything does not arrive. Files without a path are skipped.
Status deliver(std::string_view text, std::vector<Output> files);

// What a signal cut short, in files whose names end in ".partial", so that nobody takes them for
// the whole; says so, and ends the program as the signal would have. Nothing is printed, and
// nothing written if `done` (of `all` of what it says) is 0. Returns only if a file cannot be
// written.
Status leave_partial(const Interruption& signals, size_t done, size_t all, std::string_view of,
                     std::vector<Output> files);
std::string partial(const std::string& path);  // the file's name then; "" if it has none

Status none_fits(const std::vector<TestSet>& sets);
// A line on problems that are in no result; empty if all are.
std::string note_on_memory(const std::vector<TestSet>& sets, size_t measured);

}  // namespace placeto::train
