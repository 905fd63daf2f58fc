#include "trainer/eval/measured.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace placeto::train {

static size_t problems_of(const std::vector<TestSet>& sets) {
  size_t count = 0;
  for (const TestSet& set : sets) count += set.problems.size();
  return count;
}

bool on_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}

Status deliver(std::string_view text, std::vector<Output> files) {
  const bool printed =
      std::any_of(files.begin(), files.end(), [](const Output& file) { return file.path == "-"; });
  if (printed) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  } else if (Status s = write_output("-", text); !s.ok()) {
    return s;
  }
  std::erase_if(files, [](const Output& file) { return file.path.empty(); });
  return write_outputs(files);
}

Status none_fits(const std::vector<TestSet>& sets) {
  return Status::invalid(fmt::format(
      "on none of the problems, {}, was a placement found that fits memory", problems_of(sets)));
}

std::string note_on_memory(const std::vector<TestSet>& sets, size_t measured) {
  const size_t all = problems_of(sets);
  if (measured == all) return "";
  return fmt::format("left out, {} of {} problems: no placement was found that fits memory\n",
                     all - measured, all);
}

}  // namespace placeto::train
