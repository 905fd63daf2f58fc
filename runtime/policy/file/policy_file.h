// Binary policy files (schema/policy.fbs): written in one step, read in three.
//
//   verify_policy_bytes    the bytes are a whole, undamaged policy file of this format version
//   verify_policy_meaning  what it says is a policy that this runtime can execute
//   Policy::build          (policy.h) turns verified bytes into something to run
//
// Never trusts the bytes: any input gives a policy or kBadInput, in time and memory bounded by its
// size. The SHA-256 in the file finds damage; it is no signature and proves nothing about who wrote
// the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/base/sha256.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto {

// The file for a description. Equal descriptions give equal bytes. Does not ask whether the
// description makes sense: loading does. Fails with kInvalidArgument when the file would pass 2
// GiB.
Result<std::vector<uint8_t>> encode_policy(const PolicySpec& spec);

// Identifier, format_version, exact length, structure, SHA-256: after this, no byte differs from
// what the writer wrote. `bytes` must start at a multiple of 8 (kInvalidArgument otherwise).
Status verify_policy_bytes(std::span<const uint8_t> bytes, const Limits& limits = {});

// For bytes that passed verify_policy_bytes: architecture, dimensions, features by name,
// normalisation, every tensor's name, shape and values. The message names what is wrong.
Status verify_policy_meaning(std::span<const uint8_t> bytes, const KnownFeatures& known,
                             const Limits& limits = {});

// Inverse of encode_policy, for tools: both verifications, then a copy of everything.
Result<PolicySpec> decode_policy(std::span<const uint8_t> bytes, const KnownFeatures& known,
                                 const Limits& limits = {});

// A copy of everything, or of everything but the tensors, in bytes that passed both verifications.
enum class CopyTensors : bool { kNo, kYes };
PolicySpec copy_policy(std::span<const uint8_t> bytes, CopyTensors tensors);

// SHA-256 over the file with the 32 bytes of its own sha256 field taken as zero. The bytes must be
// structurally sound (verify_policy_bytes, or made by encode_policy).
Sha256Digest policy_digest(std::span<const uint8_t> bytes);

}  // namespace placeto
