#include "trainer/eval/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace placeto::train {

size_t count_problems(const std::vector<TestSet>& sets) {
  size_t count = 0;
  for (const TestSet& set : sets) count += set.problems.size();
  return count;
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

std::string partial(const std::string& path) {
  return path.empty() || path == "-" ? "" : path + ".partial";
}

Status leave_partial(const Interruption& signals, size_t done, size_t all, std::string_view of,
                     std::vector<Output> files) {
  std::string names;
  for (Output& file : files) {
    file.path = done == 0 ? "" : partial(file.path);
    if (!file.path.empty()) names += (names.empty() ? "" : ", ") + file.path;
  }
  std::erase_if(files, [](const Output& file) { return file.path.empty(); });
  if (Status s = write_outputs(files); !s.ok()) return s;
  std::fputs(
      fmt::format("placeto-train: stopped by {} after {} of {} {}; {}\n", signals.name(), done, all,
                  of,
                  names.empty() ? "nothing is written"
                                : "what was measured is in " + names + ", nothing else is written")
          .c_str(),
      stderr);
  Interruption::obey();
  return {};
}

Status none_fits(const std::vector<TestSet>& sets) {
  return Status::invalid(fmt::format(
      "on none of the problems, {}, was a placement found that fits memory", count_problems(sets)));
}

std::string note_on_memory(const std::vector<TestSet>& sets, size_t measured) {
  const size_t all = count_problems(sets);
  if (measured == all) return "";
  return fmt::format("left out, {} of {} problems: no placement was found that fits memory\n",
                     all - measured, all);
}

}  // namespace placeto::train
