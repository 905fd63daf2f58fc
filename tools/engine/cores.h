// Which cores a thread may use, which it is on, and how it gets off one.
#pragma once

#include <span>

namespace placeto {

// How many the calling thread may use, at least 1; all of the machine where the system cannot tell.
unsigned usable_cores();

// Of the calling thread; -1: not known.
int this_core();

// Moves the calling thread to one of the cores that it might use when it first asked, but none of
// `taken`; leaves it where it is if there is none, or where the system cannot move it.
void leave_cores(std::span<const int> taken);

}  // namespace placeto
