// Ed25519 signatures (RFC 8032) of policy files: who wrote this? The SHA-256 inside a policy finds
// damage only, since whoever changes a policy can also compute that.
//
// Keys are text files of one line: the bytes in hexadecimal.
//   NAME.key     32 bytes: the secret key (the seed of RFC 8032); made readable by its owner only
//   NAME.pub     32 bytes: the public key
// POLICY.sig, beside the policy, has four lines:
//   64 bytes in hexadecimal: plain Ed25519 over all bytes of the file, which anything can check
//   name NAME                under which it was signed: one policy cannot stand in for another
//   key ID                   of the public key: which one to check with
//   64 bytes in hexadecimal: plain Ed25519 over the three lines before, with their ends
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

// Tells keys apart: the first eight bytes of the public key's SHA-256, in hexadecimal.
std::string key_id(const PublicKey& key);

// The text of a signature file.
Result<std::string> sign_as(std::span<const uint8_t> message, const std::string& name,
                            const SecretKey& key);
// kBadInput unless the text is such a file, whatever it signs.
Status check_signature(std::string_view text);
// kBadInput unless the text is such a file, of this message under this name by this key.
Status verify_as(std::span<const uint8_t> message, const std::string& name, std::string_view text,
                 const PublicKey& key);

// The content of a key's file or a line of a signature's, and back. Fails with kBadInput unless the
// text is exactly that many bytes in hexadecimal, with an optional end of line; `line`: which it
// is, for the message.
std::string to_text(std::span<const uint8_t> bytes);
Status from_text(std::string_view text, std::span<uint8_t> bytes, int line = 1);

}  // namespace placeto
