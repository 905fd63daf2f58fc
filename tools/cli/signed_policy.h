// A policy that has to be signed. With libsodium only.
#pragma once

#include <memory>
#include <string>

#include "runtime/policy/file/policy.h"

namespace placeto::cli {

// The policy of a file that the owner of the public key signed. The file is read once: what was
// verified is what is used, whatever becomes of the file meanwhile. `name`: under which it was
// signed, or "" for that of the file; `signature`: a file, or "" for the one beside the policy.
// Ends with a Failure if it is not so.
std::shared_ptr<const Policy> load_signed_policy(const std::string& policy, const std::string& name,
                                                 const std::string& public_key,
                                                 const std::string& signature);

}  // namespace placeto::cli
