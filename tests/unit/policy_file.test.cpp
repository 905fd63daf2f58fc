#include "runtime/policy/file/policy_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/message.h"
#include "runtime/base/random.h"
#include "runtime/format/file.h"
#include "runtime/policy/file/policy.h"
#include "tests/support/text.h"
#include "tests/unit/policy_fixture.h"

using namespace placeto;
using placeto::test::contains;

namespace {

using Bytes = std::vector<uint8_t>;

const std::string kGolden = PLACETO_SOURCE_DIR "/tests/golden/policy_v1.plpo";

// Small, so that tests can try every bit.
PolicySpec tiny() {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.dimensions.head_hidden = {2};
  spec.pair_features = {{"load", 0.5f, 2}};
  spec.provenance = fixture::provenance();
  fixture::fill_tensors(spec, 4);
  return spec;
}

using fixture::encode;

Status load(const Bytes& bytes) {
  auto policy = Policy::load(bytes, Policy::Bytes::kView, fixture::kKnown);
  return policy.ok() ? Status() : policy.status();
}

void check_refused(const Status& status, const std::string& part) {
  CAPTURE(status.message());
  CAPTURE(part);
  CHECK(status.code() == StatusCode::kBadInput);
  CHECK(contains(status.message(), part));
}

uint32_t read_u32(const Bytes& bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Where a field of the root table lies, by the FlatBuffers layout: the root's offset at 0, at the
// root the distance back to its vtable, in there one 16-bit offset per field after two sizes.
size_t root_field(const Bytes& bytes, size_t field) {
  const size_t root = read_u32(bytes, 0);
  const size_t vtable = root - read_u32(bytes, root);
  return root + (read_u32(bytes, vtable + 4 + 2 * field) & 0xffff);
}

// Field numbers of the root table in schema/policy.fbs.
constexpr size_t kVersionField = 0, kSha256Field = 8;

size_t digest_position(const Bytes& bytes) {
  const size_t field = root_field(bytes, kSha256Field);
  return field + read_u32(bytes, field) + 4;
}

// Makes the digest right again after a change, as somebody would who means harm.
void reseal(Bytes& bytes, size_t position) {
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(position), 32, uint8_t{0});
  const Sha256Digest digest = sha256(bytes);
  std::copy(digest.begin(), digest.end(), bytes.begin() + static_cast<ptrdiff_t>(position));
}

PolicyTensor& tensor_named(PolicySpec& spec, const std::string& name) {
  for (PolicyTensor& t : spec.tensors) {
    if (t.name == name) return t;
  }
  FAIL("no tensor " << name);
  return spec.tensors.front();
}

struct Breakage {
  const char* part;  // of the message
  std::function<void(PolicySpec&)> apply;
};

}  // namespace

TEST_CASE("a policy survives encoding and decoding unchanged, and equal ones give equal bytes") {
  for (const PolicySpec& spec :
       {fixture::pairwise(), fixture::placeto(), fixture::head_only(), tiny()}) {
    const Bytes bytes = encode(spec);
    const auto decoded = decode_policy(bytes, fixture::kKnown);
    REQUIRE_MESSAGE(decoded.ok(), decoded.status().message());
    CHECK(*decoded == spec);
    CHECK(encode(*decoded) == bytes);
  }
}

TEST_CASE("a loaded policy has the networks, features and provenance of its description") {
  const PolicySpec spec = fixture::pairwise();
  const auto loaded = Policy::load(encode(spec), Policy::Bytes::kCopy, fixture::kKnown);
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  const Policy& policy = **loaded;
  CHECK(policy.architecture() == Architecture::kPairwise);
  CHECK(policy.dimensions() == spec.dimensions);
  CHECK(std::ranges::equal(policy.node_features(), spec.node_features));
  CHECK(std::ranges::equal(policy.pair_features(), spec.pair_features));
  CHECK(policy.provenance() == spec.provenance);
  CHECK(policy.networks().size() == 6);
  CHECK(policy.find_network("against.g") != nullptr);
  CHECK(policy.find_network("ancestors.f") == nullptr);
  CHECK(policy.graph_network().rounds == 2);
  CHECK(policy.graph_network().encoder.inputs() == 2);
  CHECK(policy.head().inputs() == 5);
  CHECK(policy.head().outputs() == 1);
  size_t parameters = 0;
  for (const PolicyTensor& t : spec.tensors) parameters += t.data.size();
  CHECK(policy.parameter_count() == parameters);

  // head: (4 + 1) -> 8 -> 3 -> 1; hidden layers end in a ReLU, the last one does not.
  const auto layers = policy.head().layers();
  REQUIRE(layers.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    PolicySpec copy = spec;
    const PolicyTensor t = tensor_named(copy, "head." + std::to_string(i) + ".weight");
    CHECK(std::equal(t.data.begin(), t.data.end(), layers[i].weights));
    CHECK((layers[i].activation == Activation::kRelu) == (i < 2));
  }
}

TEST_CASE("every way to load a policy gives the same numbers") {
  const Bytes bytes = encode(fixture::placeto());
  const std::string path =
      (std::filesystem::temp_directory_path() / "placeto_policy_file_test.plpo").string();
  REQUIRE(write_file_atomically(path, bytes).ok());
  const Result<std::shared_ptr<const Policy>> loaded[] = {
      Policy::load(bytes, Policy::Bytes::kCopy, fixture::kKnown),
      Policy::load(bytes, Policy::Bytes::kView, fixture::kKnown),
      Policy::load_file(path, Policy::File::kRead, fixture::kKnown),
      Policy::load_file(path, Policy::File::kMap, fixture::kKnown)};
  std::filesystem::remove(path);  // a mapping outlives the name
  Kernels kernels(KernelChoice::kPortable);
  Workspace workspace;
  std::vector<std::vector<float>> results;
  for (const auto& policy : loaded) {
    REQUIRE_MESSAGE(policy.ok(), policy.status().message());
    const Mlp& head = (*policy)->head();
    workspace.plan(0, 0, head.widest());
    const std::vector<float> x(head.inputs(), 0.5f);
    std::vector<float> y(head.outputs());
    head.run(x.data(), x.size(), y.data(), y.size(), 1, kernels, workspace);
    results.push_back(y);
  }
  for (const auto& y : results) CHECK(y == results[0]);
  CHECK((*loaded[0])->sha256() == (*loaded[3])->sha256());
}

TEST_CASE("the committed policy file of format version 1 still loads with the same content") {
  const auto bytes = read_file(kGolden, 1 << 20);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  const auto decoded = decode_policy(*bytes, fixture::kKnown);
  REQUIRE_MESSAGE(decoded.ok(), decoded.status().message());
  CHECK(*decoded == fixture::pairwise());
}

TEST_CASE("a policy truncated at any byte is refused, and told so") {
  for (const PolicySpec& spec : {tiny(), fixture::pairwise()}) {
    const Bytes whole = encode(spec);
    for (size_t length = 0; length < whole.size(); ++length) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
      const Status status = load(part);
      REQUIRE(status.code() == StatusCode::kBadInput);
      // Below 12 bytes there is no header to speak of; below the root table no size to compare.
      if (length < 12) continue;
      REQUIRE(contains(status.message(), "is truncated"));
      if (length >= 128) {
        REQUIRE(
            contains(status.message(), "is truncated: has " + unlike_bytes(length, whole.size())));
      }
    }
  }
}

TEST_CASE("sizes that are unlike read unlike") {
  CHECK(unlike_bytes(3, 110'592) == "3 B, expected 108 KiB");
  CHECK(unlike_bytes(110'592, 110'593) == "110592 bytes, expected 110593");
}

TEST_CASE("a policy with any bit flipped is refused") {
  Bytes bytes = encode(tiny());
  REQUIRE(load(bytes).ok());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
      CAPTURE(i);
      CAPTURE(bit);
      REQUIRE(load(bytes).code() == StatusCode::kBadInput);
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  CHECK(load(bytes).ok());
}

TEST_CASE("a flipped bit in a weight is reported as damage with both hashes") {
  const PolicySpec spec = tiny();
  Bytes bytes = encode(spec);
  const float weight = spec.tensors[0].data[0];
  uint8_t pattern[4];
  std::memcpy(pattern, &weight, 4);
  const auto found = std::search(bytes.begin(), bytes.end(), pattern, pattern + 4);
  REQUIRE(found != bytes.end());
  *found ^= 1;
  check_refused(load(bytes), "is damaged: its SHA-256 is ");
}

TEST_CASE("bytes after the end of a policy are refused") {
  for (const uint8_t filler : {uint8_t{0}, uint8_t{0xff}}) {
    for (const size_t count : {size_t{1}, size_t{3}, size_t{4}, size_t{64}}) {
      Bytes bytes = encode(tiny());
      bytes.resize(bytes.size() + count, filler);
      check_refused(load(bytes), "has " + std::to_string(count) + " bytes after the policy ends");
    }
  }
}

TEST_CASE("another format version is refused by its number, even with a right hash") {
  const Bytes original = encode(tiny());
  for (const uint32_t version : {0u, 2u, 77u}) {
    Bytes bytes = original;
    std::memcpy(bytes.data() + root_field(bytes, kVersionField), &version, 4);
    reseal(bytes, digest_position(bytes));
    check_refused(load(bytes), version == 0 ? "format_version is absent or 0"
                                            : "format_version is " + std::to_string(version));
  }
}

TEST_CASE("a file of another format is refused by its identifier") {
  Bytes bytes = encode(tiny());
  std::memcpy(bytes.data() + 4, "PLGR", 4);
  check_refused(load(bytes), "is a graph");
  std::memcpy(bytes.data() + 4, "XXXX", 4);
  check_refused(load(bytes), "has no known identifier");
}

TEST_CASE("a pairwise policy may leap, by a network of the head's inputs, and no other may") {
  PolicySpec spec = fixture::pairwise();
  REQUIRE((*Policy::load(encode(spec), Policy::Bytes::kCopy, fixture::kKnown))->leap() == nullptr);
  spec.dimensions.leap_hidden = {6};
  fixture::fill_tensors(spec, 4);
  const auto leaps = Policy::load(encode(spec), Policy::Bytes::kCopy, fixture::kKnown);
  REQUIRE_MESSAGE(leaps.ok(), leaps.status().message());
  const Policy& policy = **leaps;
  REQUIRE(policy.leap() != nullptr);
  CHECK(policy.leap()->inputs() == policy.head().inputs());
  CHECK(policy.leap()->outputs() == 1);
  CHECK(&policy.head() == policy.find_network("head"));
  CHECK(*decode_policy(encode(spec), fixture::kKnown) == spec);

  PolicySpec published = fixture::placeto();
  published.dimensions.leap_hidden = {6};
  const auto refused = decode_policy(encode(published), fixture::kKnown);
  CHECK(refused.status().message().find("entries of dimensions.leap_hidden is 1, expected 0") !=
        std::string::npos);
}

TEST_CASE("each thing that makes no sense in a policy has its own message") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Breakage breakages[] = {
      {"architecture is 'transformer', expected 'placeto' or 'pairwise'",
       [](PolicySpec& s) { s.architecture = "transformer"; }},
      {"architecture is ''", [](PolicySpec& s) { s.architecture = ""; }},
      {"node_features[1]: name is 'colour', expected a feature that this runtime knows",
       [](PolicySpec& s) { s.node_features[1].name = "colour"; }},
      {"pair_features[0]: name is 'run_time', expected a feature",
       [](PolicySpec& s) { s.pair_features[0].name = "run_time"; }},
      {"node_features[1]: name is 'run_time' for the second time",
       [](PolicySpec& s) { s.node_features[1].name = "run_time"; }},
      {"scale of 'depth' is 0", [](PolicySpec& s) { s.node_features[1].scale = 0; }},
      {"scale of 'depth' is nan", [=](PolicySpec& s) { s.node_features[1].scale = nan; }},
      {"shift of 'depth' is inf", [=](PolicySpec& s) { s.node_features[1].shift = infinity; }},
      {"dimensions.embedding is 4097", [](PolicySpec& s) { s.dimensions.embedding = 4097; }},
      {"dimensions.rounds is 65", [](PolicySpec& s) { s.dimensions.rounds = 65; }},
      {"dimensions.devices is 3, expected 0 to 0", [](PolicySpec& s) { s.dimensions.devices = 3; }},
      {"dimensions.head_hidden[1] is 0", [](PolicySpec& s) { s.dimensions.head_hidden[1] = 0; }},
      {"entries of dimensions.message_hidden is 9",
       [](PolicySpec& s) { s.dimensions.message_hidden.assign(9, 4); }},
      {"entries of dimensions.pool_hidden is 1, expected 0",
       [](PolicySpec& s) { s.dimensions.pool_hidden = {4}; }},
      {"dimensions.directions is 2, expected 0",
       [](PolicySpec& s) { s.dimensions.directions = 2; }},
      {"dimensions.grid is 16, expected 0 to 15", [](PolicySpec& s) { s.dimensions.grid = 16; }},
      {"tensors: sums of 'encoder.0.weight' may round, expected exact ones, as dimensions.grid is "
       "5",
       [](PolicySpec& s) { s.dimensions.grid = 5; }},
      {"number of node_features is 0", [](PolicySpec& s) { s.node_features.clear(); }},
      {"'head.1.weight': shape is [3, 8], expected [8, 3]",
       [](PolicySpec& s) {
         tensor_named(s, "head.1.weight").shape = {3, 8};
       }},
      {"'head.1.bias': shape is [], expected [3]",
       [](PolicySpec& s) { tensor_named(s, "head.1.bias").shape = {}; }},
      {"'head.1.bias': data has 2 numbers, expected 3",
       [](PolicySpec& s) { tensor_named(s, "head.1.bias").data.pop_back(); }},
      {"'head.1.bias': data has 0 numbers",
       [](PolicySpec& s) { tensor_named(s, "head.1.bias").data = {}; }},
      {"'along.f.0.weight': data[5] is nan",
       [=](PolicySpec& s) { tensor_named(s, "along.f.0.weight").data[5] = nan; }},
      {"'along.f.0.bias': data[0] is -inf",
       [=](PolicySpec& s) { tensor_named(s, "along.f.0.bias").data[0] = -infinity; }},
      {"'encoder.0.bias' is missing, expected it with shape [5]",
       [](PolicySpec& s) {
         std::erase_if(s.tensors, [](const PolicyTensor& t) { return t.name == "encoder.0.bias"; });
       }},
      {"tensors: 'head.2.bias' is missing", [](PolicySpec& s) { s.tensors.pop_back(); }},
      {"'extra': has no use",
       [](PolicySpec& s) {
         s.tensors.push_back({"extra", {1}, {1.0f}});
       }},
      {"'head.2.bias': appears for the second time",
       [](PolicySpec& s) { s.tensors.push_back(s.tensors.back()); }},
      {"provenance: workloads has 1025 entries",
       [](PolicySpec& s) { s.provenance.workloads.assign(1025, "w"); }},
      {"provenance: date: is ", [](PolicySpec& s) { s.provenance.date = "\xff"; }},
      {"provenance: trainer_version: is 5000 bytes long",
       [](PolicySpec& s) { s.provenance.trainer_version.assign(5000, 'v'); }},
  };
  for (const Breakage& breakage : breakages) {
    PolicySpec spec = fixture::pairwise();
    breakage.apply(spec);
    check_refused(load(encode(spec)), breakage.part);
  }
}

TEST_CASE("a policy of exact sums is loaded, and refused for any layer whose sums may round") {
  PolicySpec spec = fixture::pairwise();
  spec.dimensions.grid = 5;
  for (PolicyTensor& tensor : spec.tensors) {
    for (float& x : tensor.data) x = std::round(x * 64) / 64;
  }
  std::reverse(spec.tensors.begin(), spec.tensors.end());
  const auto policy = Policy::load(encode(spec), Policy::Bytes::kCopy, fixture::kKnown);
  REQUIRE(policy.ok());
  CHECK((*policy)->dimensions() == spec.dimensions);
  CHECK((*policy)->head().grid() == 5);
  CHECK((*policy)->graph_network().encoder.grid() == 5);
  for (const PolicyTensor& tensor : spec.tensors) {
    CAPTURE(tensor.name);
    PolicySpec rounds = spec;
    tensor_named(rounds, tensor.name).data.back() = 0.3f;
    const std::string layer = tensor.name.substr(0, tensor.name.rfind('.'));
    check_refused(load(encode(rounds)), "sums of '" + layer + ".weight' may round");
  }
}

TEST_CASE("a placeto policy from before its directions were kept apart is refused as that") {
  PolicySpec spec = fixture::placeto();
  spec.dimensions.directions = 0;
  check_refused(load(encode(spec)),
                "dimensions.directions is 0, expected 2: policies that mix them");
}

TEST_CASE("f and g of a placeto policy end in a ReLU, as published, and those of others do not") {
  for (const PolicySpec& spec : {fixture::pairwise(), fixture::placeto()}) {
    const auto policy = Policy::load(encode(spec), Policy::Bytes::kCopy, fixture::kKnown);
    REQUIRE(policy.ok());
    for (const Policy::Network& network : (*policy)->networks()) {
      CAPTURE(network.name);
      const bool sums = network.name.ends_with(".f") || network.name.ends_with(".g");
      const bool ends_in_relu = network.mlp.layers().back().activation == Activation::kRelu;
      CHECK(ends_in_relu == (sums && spec.architecture == "placeto"));
    }
  }
}

TEST_CASE("the order of tensors in a policy file does not matter") {
  PolicySpec spec = fixture::pairwise();
  std::reverse(spec.tensors.begin(), spec.tensors.end());
  CHECK(load(encode(spec)).ok());
}

TEST_CASE("a policy in memory at an odd address must be copied, not viewed") {
  const Bytes bytes = encode(tiny());
  Bytes shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  const std::span<const uint8_t> odd = std::span(shifted).subspan(1);
  CHECK(Policy::load(odd, Policy::Bytes::kCopy, fixture::kKnown).ok());
  CHECK(decode_policy(odd, fixture::kKnown).ok());
  const auto viewed = Policy::load(odd, Policy::Bytes::kView, fixture::kKnown);
  CHECK(viewed.status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a policy that cannot be read is an error that starts with its path") {
  for (const Policy::File mode : {Policy::File::kRead, Policy::File::kMap}) {
    const auto missing = Policy::load_file("/nonexistent/policy.plpo", mode, fixture::kKnown);
    CHECK(missing.status().code() == StatusCode::kIo);
    CHECK(missing.status().message().starts_with("/nonexistent/policy.plpo: "));
    CHECK(Policy::load_file("/", mode, fixture::kKnown).status().code() == StatusCode::kIo);
    Limits limits;
    limits.max_file_bytes = 100;
    const auto large = Policy::load_file(kGolden, mode, fixture::kKnown, limits);
    check_refused(large.status(), "larger than 100 B");
  }
}

// The hash makes damage harmless; with a right hash, the checks behind it are on their own.
TEST_CASE("changes with a right hash give a policy or an error, never a crash") {
  Random random(99);
  for (const PolicySpec& spec : {tiny(), fixture::pairwise(), fixture::placeto()}) {
    const Bytes original = encode(spec);
    const size_t position = digest_position(original);
    int refused = 0;
    for (int i = 0; i < 4000; ++i) {
      Bytes bytes = original;
      for (uint32_t changes = 1 + random.below(3); changes > 0; --changes) {
        const uint32_t at = random.below(static_cast<uint32_t>(bytes.size()));
        // Offsets, lengths and exponents are most likely to do harm as small or extreme values.
        const uint8_t values[] = {0, 1, 4, 0x7f, 0x80, 0xff, static_cast<uint8_t>(random.next())};
        bytes[at] = values[random.below(7)];
      }
      reseal(bytes, position);
      const auto policy = Policy::load(bytes, Policy::Bytes::kView, fixture::kKnown);
      if (!policy.ok()) {
        ++refused;
        REQUIRE(policy.status().code() == StatusCode::kBadInput);
        continue;
      }
      // What was accepted can be run.
      const Mlp& head = (*policy)->head();
      Kernels kernels(KernelChoice::kPortable);
      Workspace workspace;
      workspace.plan(0, 0, head.widest());
      const std::vector<float> x(head.inputs(), 1.0f);
      std::vector<float> y(head.outputs());
      head.run(x.data(), x.size(), y.data(), y.size(), 1, kernels, workspace);
    }
    CHECK(refused > 1000);
  }
}

TEST_CASE("random bytes behind a valid header are refused") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes(12 + random.below(500));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    const uint32_t root = 8 + 4 * random.below(32);
    std::memcpy(bytes.data(), &root, 4);
    std::memcpy(bytes.data() + 4, "PLPO", 4);
    REQUIRE(load(bytes).code() == StatusCode::kBadInput);
  }
}
