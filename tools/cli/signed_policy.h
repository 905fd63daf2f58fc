// Policies that have to be signed. Without libsodium nothing is, and verify_signature says so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"

namespace placeto::cli {

// The policy of a file that the owner of the public key signed. The file is read once: what was
// verified is what is used, whatever becomes of the file meanwhile. `name`: under which it was
// signed, or "" for that of the file; `signature`: a file, or "" for the one beside the policy.
// Ends with a Failure if it is not so. With libsodium only.
std::shared_ptr<const Policy> load_signed_policy(const std::string& policy, const std::string& name,
                                                 const std::string& public_key,
                                                 const std::string& signature);

// Whether a policy file has the signature of the key's owner. signature_file "": POLICY.sig;
// signed_as "": under the file's name.
void verify_signature(const std::string& policy, const std::string& signed_as,
                      const std::string& public_key, const std::string& signature_file, bool json);

// With libsodium only: a file's bytes, and the name under which a policy is signed and looked for,
// that of its file or another that was agreed on (`given`).
std::vector<uint8_t> policy_bytes(const std::string& path);
std::string signed_name(const std::string& policy, const std::string& given);

}  // namespace placeto::cli
