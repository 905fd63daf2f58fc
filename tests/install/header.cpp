// The wrapper alone, as C++17 and with every warning.
#include <placeto/placeto.hpp>

static_assert(sizeof(placeto_error) == 1024);
