// Signing policies on the command line.
#include <signal.h>
#include <sys/stat.h>

#include "runtime/policy/file/policy_file.h"
#include "tests/cli/runner.h"
#include "tests/support/described_fields.h"
#include "tests/support/small_policies.h"

using namespace placeto::test;

namespace {

struct Signed : Workplace {
  std::string policy = path("p.plpo");
  Signed() {
    const auto bytes = placeto::encode_policy(small_pairwise_policy()).value();
    write("p.plpo", std::string(bytes.begin(), bytes.end()));
    REQUIRE(run({"keygen", "release"}).status == 0);
    REQUIRE(run({"sign", policy, "--key", "release.key"}).status == 0);
  }
};

}  // namespace

TEST_CASE("a policy that was signed is verified with the public key") {
  const Signed f;
  CHECK(f.files() ==
        std::vector<std::string>{"p.plpo", "p.plpo.sig", "release.key", "release.pub"});
  const Run run = f.run({"verify", f.policy, "--public-key", "release.pub"});
  CHECK_MESSAGE(run.status == 0, run.err);
  CHECK(run.out.find("signed as") != std::string::npos);
  CHECK(f.run_json({"verify", f.policy, "-k", "release.pub", "--json"})["valid"] == true);
}

TEST_CASE("every field of what signing prints is described") {
  const Signed f;
  const auto prints = [&f](const std::vector<std::string>& arguments, const std::string& heading) {
    check_described(f.run_json(arguments), described_below({heading}));
  };
  prints({"keygen", "other", "--json"}, "keygen, sign");
  prints({"sign", f.policy, "--key", "other.key", "--json"}, "keygen, sign");
  prints({"verify", f.policy, "-k", "other.pub", "--json"}, "verify: a signature");
}

TEST_CASE("a secret key is for its owner's eyes and is never overwritten") {
  const Signed f;
  struct stat info {};
  REQUIRE(::stat(f.path("release.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const std::string before = f.read("release.key"), pub = f.read("release.pub");
  const Run again = f.run({"keygen", "release"});
  CHECK(again.status == 2);
  CHECK(again.err.find("release.key") != std::string::npos);
  CHECK(f.read("release.key") == before);
  CHECK(f.read("release.pub") == pub);
}

TEST_CASE("a public key is never overwritten, and no secret key is left without it") {
  const Workplace f;
  f.write("release.pub", "someone's");
  const Run refused = f.run({"keygen", "release"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("release.pub: exists already") != std::string::npos);
  CHECK(f.files() == std::vector<std::string>{"release.pub"});
  CHECK(f.read("release.pub") == "someone's");
}

TEST_CASE("a key that there is no room for is not left in part, and the reason is said") {
  Workplace f;
  f.limit_files(60);
  const Run refused = f.run({"keygen", "release"});
  CHECK(refused.status == 4);
  CHECK(refused.err == "placeto: error: release.key: cannot write: File too large\n");
  CHECK(f.files().empty());
}

TEST_CASE("keys and signatures that are read are not overwritten by what is placed") {
  const Signed f;
  const std::string graph = f.write("graph.json", small_graph());
  const std::string key = f.read("release.pub"), signature = f.read("p.plpo.sig");
  for (const char* output : {"release.pub", "p.plpo.sig"}) {  // the second is found beside p.plpo
    const Run run = f.run(
        {"place", graph, "-t", "2xk80", "--policy", "p.plpo", "-k", "release.pub", "-o", output});
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.err.find("is an input and would be overwritten") != std::string::npos,
                  run.err);
    CHECK(run.out == "");
  }
  CHECK(f.read("release.pub") == key);
  CHECK(f.read("p.plpo.sig") == signature);
}

TEST_CASE("a policy is not overwritten by its signature") {
  const Signed f;
  const std::string before = f.read("p.plpo");
  CHECK(f.run({"sign", f.policy, "--key", "release.key", "-o", f.policy}).status == 2);
  CHECK(f.read("p.plpo") == before);
}

TEST_CASE("a public key is not overwritten by a signature") {
  const Signed f;
  const std::string pub = f.read("release.pub");
  const Run run = f.run({"sign", f.policy, "--key", "release.key", "-o", "release.pub"});
  CHECK(run.status == 2);
  CHECK(run.err.find("release.pub: exists already") != std::string::npos);
  CHECK(f.read("release.pub") == pub);
}

TEST_CASE("a policy that was changed after signing, or signed by another key, is refused") {
  const Signed f;
  std::string bytes = f.read("p.plpo");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  f.write("changed.plpo", bytes);
  const Run changed =
      f.run({"verify", "changed.plpo", "-k", "release.pub", "--signature", "p.plpo.sig"});
  CHECK(changed.status == 3);
  CHECK(changed.err.find("changed.plpo: the signature is not of this file") != std::string::npos);
  REQUIRE(f.run({"keygen", "other"}).status == 0);
  CHECK(f.run({"verify", f.policy, "-k", "other.pub"}).status == 3);
}

TEST_CASE("what is no key, signature or policy is refused by its name, and nothing is written") {
  const Signed f;
  const std::string junk = f.write("junk", "junk\n");
  const auto before = f.files();
  const Run key = f.run({"sign", f.policy, "--key", junk, "-o", "x.sig"});
  CHECK(key.status == 3);
  CHECK(key.err.find("junk: line 1: ") != std::string::npos);
  const Run policy = f.run({"sign", junk, "--key", "release.key"});
  CHECK(policy.status == 3);
  CHECK(policy.err.find("junk") != std::string::npos);
  const Run signature = f.run({"verify", f.policy, "-k", "release.pub", "--signature", junk});
  CHECK(signature.status == 3);
  CHECK_MESSAGE(signature.err.find("junk: line 1: ") != std::string::npos, signature.err);
  const Run public_key = f.run({"verify", f.policy, "-k", f.policy});
  CHECK(public_key.status == 3);
  CHECK_MESSAGE(
      public_key.err.find("p.plpo: is no key, expected 64 hexadecimal digits") != std::string::npos,
      public_key.err);
  CHECK(f.run({"verify", f.policy, "-k", "no such file"}).status == 3);
  CHECK(f.run({"sign", f.policy}).status == 2);
  CHECK(f.files() == before);
}

TEST_CASE("one signed policy cannot stand in for another") {
  const Signed f;
  f.write("other.plpo", f.read("p.plpo"));
  f.write("other.plpo.sig", f.read("p.plpo.sig"));
  const Run renamed = f.run({"verify", "other.plpo", "-k", "release.pub"});
  CHECK(renamed.status == 3);
  CHECK(renamed.err.find("other.plpo: was signed under the name 'p.plpo'") != std::string::npos);
  CHECK(f.run({"verify", "other.plpo", "-k", "release.pub", "--name", "p.plpo"}).status == 0);
  CHECK(f.run({"sign", f.policy, "--key", "release.key", "--name", "edge", "-o", "e.sig"}).status ==
        0);
  CHECK(f.run({"verify", f.policy, "-k", "release.pub", "--signature", "e.sig"}).status == 3);
  const auto said = f.run_json({"verify", f.policy, "-k", "release.pub", "--signature", "e.sig",
                                "--name", "edge", "--json"});
  CHECK(said["name"] == "edge");
  CHECK(said["key_id"].get<std::string>().size() == 16);
}

TEST_CASE("what is said of a signature needs a public key, of a plan's record too") {
  const Signed f;
  f.write("plan.json", R"({"nodes": {"a": "gpu:0"}})");
  f.write("record.json", R"([{"cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 5,
      "args": {"op_name": "Conv", "provider": "CUDAExecutionProvider"}}])");
  REQUIRE(f.run({"verify", "plan.json", "record.json"}).status == 0);
  for (const std::string option : {"--signature", "--name"}) {
    const Run run = f.run({"verify", "plan.json", "record.json", option, "p.plpo.sig"});
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.err.find(option) != std::string::npos, run.err);
    CHECK_MESSAGE(run.err.find("--public-key") != std::string::npos, run.err);
  }
}

TEST_CASE("a secret key that others can read is refused") {
  const Signed f;
  for (const mode_t mode : {0640, 0604, 0660, 0602}) {
    REQUIRE(::chmod(f.path("release.key").c_str(), mode) == 0);
    const Run refused = f.run({"sign", f.policy, "--key", "release.key", "-o", "x.sig"});
    CHECK(refused.status == 3);
    CHECK(refused.err.find("others than its owner can use it") != std::string::npos);
    CHECK(!f.exists("x.sig"));
  }
  REQUIRE(::chmod(f.path("release.key").c_str(), 0400) == 0);
  CHECK(f.run({"sign", f.policy, "--key", "release.key", "-o", "x.sig"}).status == 0);
}

TEST_CASE("a secret key may come slowly from a pipe") {
  const Signed f;
  REQUIRE(::mkfifo(f.path("pipe").c_str(), 0600) == 0);
  const std::string key = f.read("release.key");
  const pid_t writer = fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    std::ofstream pipe(f.path("pipe"));
    for (const char c : key) {
      pipe << c << std::flush;
      usleep(1'000);
    }
    pipe.close();
    _exit(0);
  }
  const Run run = f.run({"sign", f.policy, "--key", f.path("pipe"), "-o", "x.sig"});
  CHECK_MESSAGE(run.status == 0, run.err);
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  CHECK(f.read("x.sig") == f.read("p.plpo.sig"));
}

TEST_CASE("place uses a policy only if the owner of the given key signed it") {
  const Signed f;
  const std::string graph = f.write("graph.json", small_graph());
  const std::string topology = f.write("topology.json", small_topology());
  const std::vector<std::string> place = {"place", graph, "-t", topology, "--policy", f.policy};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), place.begin(), place.end());
    return f.run(more);
  };
  CHECK(with({"--public-key", "release.pub"}).status == 0);
  REQUIRE(f.run({"keygen", "other"}).status == 0);
  const Run other = with({"--public-key", "other.pub"});
  CHECK(other.status == 3);
  CHECK(other.err.find("p.plpo: the signature is by key") != std::string::npos);
  CHECK(with({"--public-key", "release.pub", "--signature", "none.sig"}).status == 3);
  CHECK(with({"--signature", "p.plpo.sig"}).status == 2);
  REQUIRE(
      f.run({"sign", f.policy, "--key", "release.key", "--name", "edge", "-o", "e.sig"}).status ==
      0);
  CHECK(with({"--public-key", "release.pub", "--signature", "e.sig"}).status == 3);
  CHECK(with({"--public-key", "release.pub", "--signature", "e.sig", "--name", "edge"}).status ==
        0);
  CHECK(with({"--name", "edge"}).status == 2);
  CHECK(f.run({"place", graph, "-t", topology, "--public-key", "release.pub"}).status == 2);
}
