#include "tools/signature/signature.h"

#include <sodium.h>

#include <algorithm>

#include "runtime/base/message.h"

namespace placeto {
namespace {

static_assert(crypto_sign_SEEDBYTES == std::tuple_size_v<SecretKey>);
static_assert(crypto_sign_PUBLICKEYBYTES == std::tuple_size_v<PublicKey>);
static_assert(crypto_sign_BYTES == std::tuple_size_v<Signature>);

// What libsodium signs with: the seed and the public key. Wiped when it goes.
struct KeyPair {
  PublicKey public_key = {};
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> secret = {};
  ~KeyPair() { sodium_memzero(secret.data(), secret.size()); }
};

Status start() {
  return sodium_init() < 0 ? Status::internal("libsodium does not start") : Status();
}

Status expand(const SecretKey& key, KeyPair& pair) {
  if (Status s = start(); !s.ok()) return s;
  crypto_sign_seed_keypair(pair.public_key.data(), pair.secret.data(), key.data());
  return {};
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<SecretKey> make_secret_key() {
  if (Status s = start(); !s.ok()) return s;
  SecretKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

Result<PublicKey> public_key_of(const SecretKey& key) {
  KeyPair pair;
  if (Status s = expand(key, pair); !s.ok()) return s;
  return pair.public_key;
}

Result<Signature> sign(std::span<const uint8_t> message, const SecretKey& key) {
  KeyPair pair;
  if (Status s = expand(key, pair); !s.ok()) return s;
  Signature signature;
  crypto_sign_detached(signature.data(), nullptr, message.data(), message.size(),
                       pair.secret.data());
  return signature;
}

Status verify(std::span<const uint8_t> message, const Signature& signature, const PublicKey& key) {
  if (Status s = start(); !s.ok()) return s;
  if (crypto_sign_verify_detached(signature.data(), message.data(), message.size(), key.data()) ==
      0) {
    return {};
  }
  return Status::bad_input("the signature is not of this file by this key");
}

std::string to_text(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "\n";
}

Status from_text(std::string_view text, std::span<uint8_t> bytes) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const auto is_digit = [](char c) { return digit_of(c) >= 0; };
  if (text.size() != 2 * bytes.size() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return Status::bad_input(join({"line 1: has ", text.size(), " characters, expected ",
                                   2 * bytes.size(), " hexadecimal digits and nothing else"}));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(digit_of(text[2 * i]) * 16 + digit_of(text[2 * i + 1]));
  }
  return {};
}

}  // namespace placeto
