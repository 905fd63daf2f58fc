#include "tools/signature/signature.h"

#include <sodium.h>

#include <algorithm>

#include "runtime/base/message.h"
#include "runtime/base/sha256.h"
#include "runtime/graph/text.h"

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

constexpr std::string_view kName = "name ", kKey = "key ";

Status check_signed_name(const std::string& name) {
  if (Status s = check_name(name, {}); !s.ok()) return s.at("name");
  if (name.find_first_of("\n\r") == std::string::npos) return {};
  return Status::bad_input("name: has an end of line, expected a file's name of one line");
}

// What a signature's file says; views of its text.
struct SignatureFile {
  Signature of_message, of_lines;
  std::string_view name, key_id, signed_lines;
};

Result<SignatureFile> parse(std::string_view text) {
  std::array<std::string_view, 4> lines;
  std::string_view rest = text;
  for (std::string_view& line : lines) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  SignatureFile file;
  if (Status s = from_text(lines[0], file.of_message); !s.ok()) return s;
  if (!lines[1].starts_with(kName) || !lines[2].starts_with(kKey) || !rest.empty()) {
    return Status::bad_input(
        "has no name or no key under its first line, expected what 'placeto sign' writes");
  }
  if (Status s = from_text(lines[3], file.of_lines, 4); !s.ok()) return s;
  file.name = lines[1].substr(kName.size());
  file.key_id = lines[2].substr(kKey.size());
  file.signed_lines = text.substr(0, lines[3].data() - text.data());
  return file;
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

std::string key_id(const PublicKey& key) {
  const Sha256Digest digest = sha256(key);
  std::string text = to_text(std::span(digest).first(8));
  text.pop_back();  // the end of the line
  return text;
}

Result<std::string> sign_as(std::span<const uint8_t> message, const std::string& name,
                            const SecretKey& key) {
  if (Status s = check_signed_name(name); !s.ok()) return s;
  const Result<Signature> of_message = sign(message, key);
  if (!of_message.ok()) return of_message.status();
  const Result<PublicKey> public_key = public_key_of(key);
  if (!public_key.ok()) return public_key.status();
  const std::string lines = to_text(*of_message) + std::string(kName) + name + "\n" +
                            std::string(kKey) + key_id(*public_key) + "\n";
  const Result<Signature> of_lines = sign(as_bytes(lines), key);
  if (!of_lines.ok()) return of_lines.status();
  return lines + to_text(*of_lines);
}

Status check_signature(std::string_view text) {
  return parse(text).status();
}

Status verify_as(std::span<const uint8_t> message, const std::string& name, std::string_view text,
                 const PublicKey& key) {
  const Result<SignatureFile> file = parse(text);
  if (!file.ok()) return file.status();
  if (file->key_id != key_id(key)) {
    return Status::bad_input(join({"the signature is by key ", in_quotes(file->key_id),
                                   ", expected ", key_id(key), ", that of the given public key"}));
  }
  if (Status s = verify(message, file->of_message, key); !s.ok()) return s;
  if (Status s = verify(as_bytes(file->signed_lines), file->of_lines, key); !s.ok()) {
    return Status::bad_input("the signature's name is not by this key");
  }
  if (file->name == name) return {};
  return Status::bad_input(
      join({"was signed under the name ", in_quotes(file->name), ", expected ", in_quotes(name)}));
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

Status from_text(std::string_view text, std::span<uint8_t> bytes, int line) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const auto is_digit = [](char c) { return digit_of(c) >= 0; };
  if (text.size() != 2 * bytes.size() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return Status::bad_input(join({"line ", line, ": has ", text.size(), " characters, expected ",
                                   2 * bytes.size(), " hexadecimal digits and nothing else"}));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(digit_of(text[2 * i]) * 16 + digit_of(text[2 * i + 1]));
  }
  return {};
}

}  // namespace placeto
