// Signatures of policy files.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/signature/signature.h"

namespace placeto {
namespace {

template <class Array>
Array array_of(const std::string& text) {
  Array bytes;
  REQUIRE(from_text(text, bytes).ok());
  return bytes;
}

}  // namespace

TEST_CASE("keys and signatures are those of RFC 8032") {
  // Section 7.1, tests 1 and 2.
  const struct {
    const char *secret, *pub, *signature;
    std::vector<uint8_t> message;
  } cases[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc6"
                "1e39701cf9"
                "b46bd25bf5f0595bbe24655141438e7a100b",
                {}},
               {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e45"
                "8f3613d0f1"
                "1d8c387b2eaeb4302aeeb00d291612bb0c00",
                {0x72}}};
  for (const auto& test : cases) {
    const auto secret = array_of<SecretKey>(test.secret);
    const auto pub = array_of<PublicKey>(test.pub);
    const auto signature = array_of<Signature>(test.signature);
    CHECK(*public_key_of(secret) == pub);
    CHECK(*sign(test.message, secret) == signature);
    CHECK(verify(test.message, signature, pub).ok());
  }
}

TEST_CASE("any change of message, signature or key is refused") {
  const std::vector<uint8_t> message(300, 7);
  const SecretKey secret = *make_secret_key();
  const PublicKey pub = *public_key_of(secret);
  const Signature signature = *sign(message, secret);
  REQUIRE(verify(message, signature, pub).ok());
  for (size_t i = 0; i < message.size(); i += 37) {
    auto changed = message;
    changed[i] ^= 1;
    CHECK(verify(changed, signature, pub).code() == StatusCode::kBadInput);
  }
  for (size_t i = 0; i < signature.size(); ++i) {
    auto changed = signature;
    changed[i] ^= 1;
    CHECK(!verify(message, changed, pub).ok());
  }
  CHECK(!verify(message, signature, *public_key_of(*make_secret_key())).ok());
  CHECK(!verify(std::span(message).first(299), signature, pub).ok());
}

TEST_CASE("a signature file is of one message, under one name, by one key") {
  const std::vector<uint8_t> message(300, 7);
  const SecretKey secret = *make_secret_key();
  const PublicKey pub = *public_key_of(secret);
  const std::string text = *sign_as(message, "a policy.plpo", secret);
  CHECK(verify_as(message, "a policy.plpo", text, pub).ok());
  CHECK(verify(message, array_of<Signature>(text.substr(0, 128)), pub).ok());  // by anything
  const auto refusal = [&](const std::string& name, const std::string& changed) {
    const Status status = verify_as(message, name, changed, pub);
    CHECK(status.code() == StatusCode::kBadInput);
    return status.message();
  };
  CHECK(refusal("b.plpo", text) == "was signed under the name 'a policy.plpo', expected 'b.plpo'");
  std::string renamed = text;
  renamed.replace(renamed.find("a policy"), 8, "b policy");
  CHECK(refusal("b policy.plpo", renamed) == "the signature's name is not by this key");
  CHECK(refusal("a policy.plpo", text.substr(0, 129)).find("has no name") == 0);
  CHECK(refusal("a policy.plpo", text + "more").find("has no name") == 0);
  const PublicKey other = *public_key_of(*make_secret_key());
  CHECK(verify_as(message, "a policy.plpo", text, other).message().find(key_id(other)) !=
        std::string::npos);
  for (size_t i = 0; i < text.size(); i += 5) {
    std::string changed = text;
    changed[i] = changed[i] == '0' ? '1' : '0';
    CHECK(!verify_as(message, "a policy.plpo", changed, pub).ok());
    CHECK(!verify_as(message, "a policy.plpo", text.substr(0, i), pub).ok());
  }
  CHECK(!sign_as(message, "two\nlines", secret).ok());
  CHECK(!sign_as(message, "", secret).ok());
}

TEST_CASE("keys are made at random and survive their text") {
  const SecretKey a = *make_secret_key(), b = *make_secret_key();
  CHECK(a != b);
  CHECK(to_text(a).size() == 65);
  CHECK(array_of<SecretKey>(to_text(a)) == a);
}

TEST_CASE("text that is no key is refused") {
  PublicKey key;
  const std::string good(64, 'a');
  CHECK(from_text(good, key).ok());
  CHECK(from_text(good + "\r\n", key).ok());
  for (const std::string& bad : {good.substr(1), good + "a", std::string(63, 'a') + "g",
                                 std::string(), good + " ", std::string(64, '\0')}) {
    const Status status = from_text(bad, key);
    CHECK(status.code() == StatusCode::kBadInput);
    CHECK(status.message().find("expected 64 hexadecimal digits") != std::string::npos);
  }
}

}  // namespace placeto
