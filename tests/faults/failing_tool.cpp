// Loaded before a program's libraries (LD_PRELOAD): lets one allocation of `main` fail, and writes
// down how many there were.
//
//   PLACETO_FAIL_ALLOCATION=N   the Nth after main began fails; 0: none
//   PLACETO_ALLOCATIONS=FILE    the number of allocations goes there when the program exits
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/faults/failing_memory.h"

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

// The main function of this program.
Main program_main;

int counted_main(int argc, char** argv, char** environment) {
  auto& memory = placeto::test::failing_memory;
  const char* const number = std::getenv("PLACETO_FAIL_ALLOCATION");
  const char* const file = std::getenv("PLACETO_ALLOCATIONS");
  memory.asked = 0;
  memory.fail_in = number == nullptr ? 0 : std::strtoull(number, nullptr, 10);
  const int status = program_main(argc, argv, environment);
  memory.fail_in = 0;
  if (file == nullptr) return status;
  if (FILE* out = std::fopen(file, "w")) {
    std::fprintf(out, "%llu\n", static_cast<unsigned long long>(memory.asked));
    std::fclose(out);
  }
  return status;
}

}  // namespace

extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
  program_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
