// Whether the engine wrote what it was to write: it does not say why it could not, and of profiles
// not even that.
#pragma once

#include <span>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Fails with kIo, and removes all of them, where one of these profiles is not there or has no end.
Status check_profiles(std::span<const std::string> files);

// What saving a model in these files came to: kIo, with the reason, where one of them can take no
// more, which is then of no use; else `saved`.
Status explain_saving(const Status& saved, std::span<const std::string> files);

}  // namespace placeto
