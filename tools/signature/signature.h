// Ed25519 signatures (RFC 8032) of policy files: who wrote this? The SHA-256 inside a policy finds
// damage only, since whoever changes a policy can also compute that.
//
// A signature is plain Ed25519 over all bytes of the binary file, so that anything that knows the
// algorithm can check it. Keys and signatures are text files of one line: the bytes in hexadecimal.
//   NAME.key     32 bytes: the secret key (the seed of RFC 8032); made readable by its owner only
//   NAME.pub     32 bytes: the public key
//   POLICY.sig   64 bytes: the signature, beside the policy
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

using SecretKey = std::array<uint8_t, 32>;
using PublicKey = std::array<uint8_t, 32>;
using Signature = std::array<uint8_t, 64>;

// From the system's source of randomness.
Result<SecretKey> make_secret_key();
Result<PublicKey> public_key_of(const SecretKey& key);

Result<Signature> sign(std::span<const uint8_t> message, const SecretKey& key);
// kBadInput if the signature is not of this message by this key.
Status verify(std::span<const uint8_t> message, const Signature& signature, const PublicKey& key);

// The content of a key's or signature's file, and back. Fails with kBadInput unless the text is
// exactly that many bytes in hexadecimal, with an optional end of line.
std::string to_text(std::span<const uint8_t> bytes);
Status from_text(std::string_view text, std::span<uint8_t> bytes);

}  // namespace placeto
