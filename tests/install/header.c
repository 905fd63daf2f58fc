/* The public header alone, as C99 and with every warning. */
#include <placeto/placeto.h>

typedef char message_is_in_place[sizeof(placeto_error) == 1024 ? 1 : -1];
