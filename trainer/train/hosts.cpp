#include "trainer/train/hosts.h"

// LibTorch may have been built without Gloo, and its headers need Gloo's.
#if defined(USE_C10D_GLOO) && __has_include(<gloo/context.h>)
#define PLACETO_HAVE_GLOO
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "runtime/graph/text.h"
#include "trainer/base/bytes.h"

namespace placeto::train {
namespace {

// "10.0.0.1:29500" to its parts; port 0 if there is none.
std::pair<std::string, uint16_t> split_address(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, 0};
  const unsigned long port = std::strtoul(&address[colon + 1], nullptr, 10);
  return {address.substr(0, colon), port < 65'536 ? static_cast<uint16_t>(port) : uint16_t{0}};
}

// The first line: LibTorch appends a stack trace.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

#ifdef PLACETO_HAVE_GLOO

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.");
}

// LibTorch 2 asks for libuv by default, and then fails where it was built without.
template <typename Options>
void use_plain_sockets(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

#endif

}  // namespace

#ifdef PLACETO_HAVE_GLOO
struct Hosts::Connection {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  // One tensor of equal shape from each host.
  std::vector<torch::Tensor> gather(torch::Tensor mine, uint32_t count) const {
    std::vector<std::vector<torch::Tensor>> all(1);
    for (uint32_t i = 0; i < count; ++i) all[0].push_back(torch::empty_like(mine));
    std::vector<torch::Tensor> in = {std::move(mine)};
    gloo->allgather(all, in)->wait();
    return std::move(all[0]);
  }
};
#else
struct Hosts::Connection {};
#endif

Hosts::Hosts(const HostsOptions& options)
    : options_(options), connection_(std::make_unique<Connection>()) {}

Hosts::~Hosts() = default;

Status Hosts::failed(const char* what, const std::string& why) const {
  return Status::io(fmt::format(
      "host {} of {} cannot {}: another host is gone, or was not heard of for {} s ({})",
      options_.rank, options_.count, what, options_.timeout_seconds, first_line(why)));
}

Result<std::unique_ptr<Hosts>> Hosts::join(const HostsOptions& options) {
  if (options.address.empty()) {
    return Status::invalid("--hosts: needs --address HOST:PORT, of host 0, e.g. 10.0.0.1:29500");
  }
  const auto [host, port] = split_address(options.address);
  if (options.count == 0 || options.rank >= options.count) {
    return Status::invalid(fmt::format("--rank: {} of {} hosts: expected one below their number",
                                       options.rank, options.count));
  }
  if (host.empty() || port == 0) {
    return Status::invalid("--address: '" + options.address +
                           "': expected host:port of host 0, e.g. 10.0.0.1:29500");
  }
  std::unique_ptr<Hosts> hosts(new Hosts(options));
#ifdef PLACETO_HAVE_GLOO
  try {
    c10d::TCPStoreOptions store;
    store.port = port;
    store.isServer = options.rank == 0;
    store.numWorkers = options.count;
    store.timeout = std::chrono::seconds(options.timeout_seconds);
    use_plain_sockets(store);
    auto gloo = c10d::ProcessGroupGloo::Options::create(store.timeout);
    gloo->threads = 1;
    gloo->devices.push_back(is_loopback(host)
                                ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                : c10d::ProcessGroupGloo::createDefaultDevice());
    hosts->connection_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::TCPStore>(host, store), static_cast<int>(options.rank),
        static_cast<int>(options.count), gloo);
  } catch (const std::exception& error) {
    return hosts->failed("meet the others", error.what());
  }
  return hosts;
#else
  return Status::invalid(
      "several hosts need LibTorch with Gloo and Gloo's headers (Debian: libgloo-dev); this build "
      "has neither or only one");
#endif
}

std::pair<uint32_t, uint32_t> Hosts::share(uint32_t jobs) const {
  const auto bound = [&](uint64_t rank) {
    return static_cast<uint32_t>(jobs * rank / options_.count);
  };
  return {bound(options_.rank), bound(options_.rank + 1)};
}

Result<std::vector<std::string>> Hosts::exchange(std::string_view mine) {
#ifdef PLACETO_HAVE_GLOO
  try {
    const auto size = static_cast<int64_t>(mine.size());
    std::vector<int64_t> sizes;
    for (const torch::Tensor& t : connection_->gather(torch::tensor({size}), options_.count)) {
      sizes.push_back(t.item<int64_t>());
    }
    const int64_t most = *std::max_element(sizes.begin(), sizes.end());
    torch::Tensor bytes = torch::zeros({std::max<int64_t>(1, most)}, torch::kByte);
    std::memcpy(bytes.data_ptr(), mine.data(), mine.size());
    std::vector<std::string> all;
    for (const torch::Tensor& t : connection_->gather(bytes, options_.count)) {
      all.emplace_back(static_cast<const char*>(t.data_ptr()),
                       static_cast<size_t>(sizes[all.size()]));
    }
    return all;
  } catch (const std::exception& error) {
    return failed("exchange records", error.what());
  }
#else
  return failed("exchange records", std::string(mine));  // never joined
#endif
}

std::string state_of(uint32_t iteration, std::string_view config_text, const Sha256Digest& policy) {
  const auto number = [](const Sha256Digest& digest) {
    uint32_t n = 0;
    for (size_t i = 0; i < 4; ++i) n = n << 8 | digest[i];
    return n;
  };
  const Sha256Digest text = sha256(as_bytes(config_text));
  return fmt::format("iteration {} (configuration {:08x}, policy {:08x})", iteration, number(text),
                     number(policy));
}

Result<std::vector<std::string>> exchange_round(Hosts& hosts, Round& round) {
  // Lines of state and stop, then the records.
  const std::string mine =
      round.state + "\n" + (round.stop ? "stop" : "continue") + "\n" + round.records;
  Result<std::vector<std::string>> all = hosts.exchange(mine);
  if (!all.ok()) return all;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    std::string& text = (*all)[rank];
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    const std::string state = text.substr(0, first);
    if (state != round.state) {
      return Status::bad_input(fmt::format(
          "host {} is at {}, this one at {}: start all with one configuration and the same graphs, "
          "or from the same checkpoint",
          rank, state, round.state));
    }
    round.stop = round.stop || text.compare(first + 1, second - first - 1, "stop") == 0;
    text.erase(0, second + 1);
  }
  return all;
}

Result<uint32_t> agree_on_beginning(Hosts& hosts, std::string_view setup,
                                    const std::vector<uint32_t>& mine) {
  Round round{state_of(0, setup, {}), false, ""};
  put(mine, round.records);
  const Result<std::vector<std::string>> all = exchange_round(hosts, round);
  if (!all.ok()) return all.status();
  std::vector<uint32_t> common = mine;
  std::string have;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    std::string_view left = (*all)[rank];
    std::vector<uint32_t> theirs, both;
    if (!get(theirs, left)) return Status::io("checkpoints of another host are damaged");
    std::ranges::set_intersection(common, theirs, std::back_inserter(both));
    common = std::move(both);
    have += fmt::format(
        "{} {}",
        rank == 0 ? "host 0 has checkpoints of iterations" : fmt::format("; host {} of", rank),
        fmt::join(theirs, ", "));
  }
  if (!common.empty()) return common.back();
  return Status::bad_input(have + ": expected one in common; copy a run folder to the others");
}

}  // namespace placeto::train
