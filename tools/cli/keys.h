// What keygen and sign have in common.
#pragma once

#include <string>

#include "tools/cli/common.h"

namespace placeto::cli {

inline constexpr const char* kSignExamples = R"(Examples:
  placeto keygen release                                  writes release.key and release.pub
  placeto sign policy.plpo --key release.key              writes policy.plpo.sig
  placeto verify policy.plpo --public-key release.pub

Keep the .key file secret; give the .pub file to those who check. A signature is Ed25519 (RFC 8032)
over the bytes of the binary file, and over the name under which it was signed. It does not say that
there is no newer one.)";

// Never over an existing file: that could be the only copy of a key.
[[noreturn]] inline void refuse_existing(const std::string& path) {
  throw Failure(kBadUsage, path + ": exists already, and keys are not overwritten");
}

}  // namespace placeto::cli
