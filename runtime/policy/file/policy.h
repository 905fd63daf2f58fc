// Policy: a loaded policy file, ready to run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/result.h"
#include "runtime/base/sha256.h"
#include "runtime/policy/file/architecture.h"
#include "runtime/policy/file/policy_spec.h"
#include "runtime/policy/net/network.h"

namespace placeto {

// The caller's own verdict on a policy file, e.g. by a signature beside it. Asked before anything
// of the file is interpreted, about the very bytes that will be used.
struct PolicyVerifier {
  bool (*accept)(void* context, std::span<const uint8_t> bytes) = nullptr;  // null: no questions
  void* context = nullptr;
};

// Immutable; any number of placers in any number of threads may share one. Scratch and kernels
// belong to the placers.
class Policy {
 public:
  enum class Bytes : uint8_t {
    kCopy,  // keeps a copy: the caller's buffer may go away
    kView,  // points into the caller's buffer, which must outlive the policy, stay unchanged, and
            // start at a multiple of 8
  };
  enum class File : uint8_t {
    kRead,  // reads the file into memory first, then verifies: safe whatever happens to the file
    kMap,   // maps it: less memory, shared between processes; see MappedFile for what must hold
  };

  // Asks the verifier, verifies bytes and meaning, then builds. Fails with kBadInput, and with kIo
  // when a file cannot be read; messages of load_file start with the path.
  static Result<std::shared_ptr<const Policy>> load(std::span<const uint8_t> bytes, Bytes mode,
                                                    const KnownFeatures& known,
                                                    const Limits& limits = {},
                                                    const PolicyVerifier& verifier = {});
  static Result<std::shared_ptr<const Policy>> load_file(const std::string& path, File mode,
                                                         const KnownFeatures& known,
                                                         const Limits& limits = {},
                                                         const PolicyVerifier& verifier = {});

  Architecture architecture() const { return architecture_; }
  const PolicyDimensions& dimensions() const { return dimensions_; }
  std::span<const PolicyFeature> node_features() const { return node_features_; }
  std::span<const PolicyFeature> pair_features() const { return pair_features_; }
  const PolicyProvenance& provenance() const { return provenance_; }
  const Sha256Digest& sha256() const { return sha256_; }

  struct Network {
    std::string name;
    Mlp mlp;
  };
  // In the order of networks_of().
  std::span<const Network> networks() const { return networks_; }
  // nullptr if the architecture has none of that name.
  const Mlp* find_network(std::string_view name) const;
  const Mlp& head() const { return networks_.back().mlp; }
  // Says where groups leap to; nullptr: the policy makes no leaps.
  const Mlp* leap() const { return find_network("leap"); }
  // Only `pairwise` has one, when dimensions().embedding > 0.
  const GraphNetwork& graph_network() const { return graph_network_; }

  size_t file_bytes() const { return bytes_.size(); }
  // Number of weights and biases.
  size_t parameter_count() const { return parameter_count_; }

 private:
  Policy() = default;
  static Result<std::shared_ptr<const Policy>> verify_and_build(std::unique_ptr<Policy> policy,
                                                                const KnownFeatures& known,
                                                                const Limits& limits,
                                                                const PolicyVerifier& verifier);
  void build();
  void build_networks();

  std::vector<uint8_t> copy_;
  MappedFile map_;
  std::span<const uint8_t> bytes_;  // of copy_, map_ or the caller; the networks point into it

  Architecture architecture_ = Architecture::kPairwise;
  PolicyDimensions dimensions_;
  std::vector<PolicyFeature> node_features_, pair_features_;
  PolicyProvenance provenance_;
  Sha256Digest sha256_ = {};
  std::vector<Network> networks_;
  GraphNetwork graph_network_;
  size_t parameter_count_ = 0;
};

}  // namespace placeto
