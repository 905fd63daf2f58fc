#include "runtime/base/sha256.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/format/buffer.h"
#include "runtime/graph/text.h"

using namespace placeto;

namespace {

constexpr Sha256::Implementation kImplementations[] = {Sha256::Implementation::kFastest,
                                                       Sha256::Implementation::kPortable};

Sha256Digest hash_with(Sha256::Implementation implementation, std::span<const uint8_t> bytes) {
  Sha256 hash(implementation);
  hash.update(bytes);
  return hash.finish();
}

// By both implementations, which must agree.
std::string hash(std::span<const uint8_t> bytes) {
  const Sha256Digest digest = sha256(bytes);
  for (const auto implementation : kImplementations) {
    CHECK(hash_with(implementation, bytes) == digest);
  }
  return hexadecimal(digest);
}

std::string hash(const std::string& text) {
  return hash(as_bytes(text));
}

}  // namespace

// NIST, "SHA-256 example computations" and FIPS 180-2, appendix B.
TEST_CASE("SHA-256 gives the digests of the standard's examples") {
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// NIST CAVP, SHA256ShortMsg.rsp, Len = 8.
TEST_CASE("SHA-256 hashes a single byte as the test vector does") {
  const uint8_t byte[] = {0xd3};
  CHECK(hash(byte) == "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

TEST_CASE("SHA-256 of a message does not depend on how it is cut into pieces") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  // Lengths around 55, 56 and 64 decide whether the padding needs a block of its own.
  for (size_t length = 0; length <= text.size(); ++length) {
    const auto message = as_bytes(text).first(length);
    const Sha256Digest whole = hash_with(Sha256::Implementation::kPortable, message);
    REQUIRE(hash_with(Sha256::Implementation::kFastest, message) == whole);
    for (const size_t piece : {size_t{1}, size_t{63}, size_t{64}, size_t{65}}) {
      Sha256 in_pieces;
      for (size_t i = 0; i < length; i += piece) {
        in_pieces.update(message.subspan(i, std::min(piece, length - i)));
      }
      REQUIRE(in_pieces.finish() == whole);
    }
  }
}
