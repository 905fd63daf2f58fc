// The command: what it says about bad usage and input, with which exit status, and that a failure
// leaves nothing behind.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/trainer/command.h"

using namespace placeto;
using namespace placeto::train;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(Place, "a run that cannot begin leaves no folder") {
  const std::string absent = write("absent.toml", "[learn]\nstart = \"absent.plpo\"\n");
  fails("--config " + absent + " -o " + file("run"), 3,
        "absent.toml:2: learn.start: absent.plpo: cannot open");
  const std::string other = write("other.toml", "[learn]\nhidden = [3]\nstart = \"default\"\n");
  fails("--config " + other + " -o " + file("run"), 3,
        "other.toml:3: learn.start: default: another architecture, hidden layers or features");
  CHECK(!fs::exists(file("run")));
  fails("--config " + absent + " -o " + file("new/runs/run"), 3, "absent.plpo: cannot open");
  CHECK(!fs::exists(file("new")));
  const std::string hosts = "--config " + config + " -o " + file("run") + " --hosts 2 ";
  fails(hosts + "--rank 5 --address localhost:1", 2, "--rank: 5 of 2 hosts");
  fails(hosts + "--address nonsense", 2, "--address: 'nonsense': expected host:port");
  fails(hosts, 2, "--hosts: needs --address HOST:PORT");
  CHECK(!fs::exists(file("run")));
  fails("--config " + config + " -o " + config, 4, "c.toml: cannot create");
}

TEST_CASE_FIXTURE(Place, "a run that cannot begin removes nothing that it did not make") {
  const std::string absent = write("absent.toml", "[learn]\nstart = \"absent.plpo\"\n");
  const std::string begin = "--config " + absent + " -o " + file("mine");
  fs::create_directories(file("mine/records"));
  fails(begin, 3, "absent.plpo: cannot open");
  CHECK(fs::is_directory(file("mine/records")));
  CHECK(!fs::exists(file("mine/config.toml")));
  CHECK(!fs::exists(file("mine/checkpoints")));
  write("mine/notes.tmp-1.txt", "of mine");
  write("mine/records/000000.bin.tmp-1", "of mine");
  fails("--config " + config + " -o " + file("mine"), 2,
        "mine/records: is not empty, and a run would write there, expected another folder");
  CHECK(*read_text(file("mine/records/000000.bin.tmp-1")) == "of mine");
  fs::remove(file("mine/records/000000.bin.tmp-1"));
  for (const char* name : {"mine/data.txt", "mine/metrics.csv", "mine/best.plpo"}) {
    write(name, "of mine");
    fails("--config " + config + " -o " + file("mine"), 2,
          std::string(name) + ": is there already, and a run would write it");
    CHECK(*read_text(file(name)) == "of mine");
    fs::remove(file(name));
  }
  CHECK(run("--config " + config + " -o " + file("mine")) == 0);
  CHECK(*read_text(file("mine/notes.tmp-1.txt")) == "of mine");
}

// Files may not grow beyond so many blocks of 512 bytes, which fails as a full disk does.
TEST_CASE_FIXTURE(Place,
                  "a disk that is full before the first checkpoint costs no file of others") {
  const auto train_within = [&](int blocks, const std::string& folder) {
    const std::string line = "sh -c 'ulimit -f " + std::to_string(blocks) +
                             "; " PLACETO_TRAIN " --config " + config + " -o " + file(folder) +
                             "; echo $? >&2' 2>&1 | cat >" + file("messages");
    REQUIRE(std::system(line.c_str()) == 0);
    const std::string messages = *read_text(file("messages"));
    CHECK_MESSAGE(messages.find("File too large") != std::string::npos, messages);
    CHECK_MESSAGE(messages.ends_with("\n4\n"), messages);
  };
  fs::create_directories(file("mine"));
  write("mine/notes.txt", "of mine");
  for (const int blocks : {0, 1, 12}) {  // no configuration, no settings, no records
    CAPTURE(blocks);
    train_within(blocks, "new");
    CHECK(!fs::exists(file("new")));
    train_within(blocks, "mine");
    CHECK(*read_text(file("mine/notes.txt")) == "of mine");
    CHECK(std::distance(fs::directory_iterator(file("mine")), {}) == 1);
  }
}

TEST_CASE_FIXTURE(Place, "a run with relative paths continues from any directory") {
  write("x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]},
    {"name": "b", "op": "X", "cost_us": [5]}, {"name": "c", "op": "X", "cost_us": [5]}]})");
  const std::string own = write("own.toml", R"(
iterations = 1
threads = 1
[data]
graphs = ["x*.json"]
topologies = ["2xk80"]
[collect]
problems = 4
[check]
problems = 1
[learn]
steps = 1
decisions = 2
)");
  const auto in = [&](const std::string& folder, const std::string& arguments) {
    const std::string line = "cd " + folder + " && " PLACETO_TRAIN " " + arguments + " 2>" +
                             file("messages") + " >/dev/null";
    return WEXITSTATUS(std::system(line.c_str()));
  };
  REQUIRE(in(file(""), "--config own.toml -o run") == 0);
  CHECK(in("/", "--resume " + file("run")) == 0);
  CHECK(
      read_text(file("messages"))->ends_with("1 of 1 iterations are done: nothing to continue\n"));
  CHECK(in("/", "--config " + own + " -o " + file("other")) == 3);
  CHECK(*read_text(file("messages")) ==
        "placeto-train: error: " + own +
            ":5: data.graphs: x*.json: no such file, nor a pattern of any in /\n");
  // As runs are that began before the directory was kept.
  fs::remove(file("run/directory.txt"));
  CHECK(in("/", "--resume " + file("run")) == 3);
  CHECK(read_text(file("messages"))->find(file("run/config.toml:5: data.graphs: x*.json")) !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Place, "the number of processors changes no weight") {
  const std::string wide = write("wide.toml", R"(
iterations = 1
threads = 1
[data]
max_nodes = 60
large_share = 0
network_share = 0
[collect]
problems = 4
max_evaluations = 100
[learn]
steps = 5
decisions = 512
[check]
problems = 1
)");
  std::string policies[2];
  for (int i = 0; i < 2; ++i) {
    const std::string folder = file("run" + std::to_string(i));
    setenv("OPENBLAS_NUM_THREADS", i == 0 ? "1" : "2", 1);
    REQUIRE(run("--config " + wide + " -o " + folder) == 0);
    REQUIRE(run("export " + folder + " -o -", file("printed")) == 0);
    policies[i] = *read_text(file("printed"));
  }
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // as tests are run
  CHECK(policies[0] == policies[1]);
}

// Otherwise `placeto-train ... && placeto-train export ...` would ship what is half trained.
TEST_CASE_FIXTURE(Place, "a signal ends training once it is saved, and says what was not done") {
  std::string text = *read_text(config);
  text.replace(text.find("iterations = 1"), 14, "iterations = 100000");
  const std::string endless = write("endless.toml", text);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    const std::string folder = file("run" + std::to_string(signal));
    ends_by(signal, "--compare --config " + endless + " -o " + folder,
            [&] { return fs::exists(folder + "/metrics.csv"); });
    const std::string messages = *read_text(file("messages"));
    for (const std::string said :
         {"stopped by ", " of 100000 iterations", "; --compare was not done"}) {
      CHECK_MESSAGE(messages.find(said) != std::string::npos, messages);
    }
    CHECK_MESSAGE(messages.find("--resume " + folder + " continues") != std::string::npos,
                  messages);
    CHECK(!fs::is_empty(folder + "/checkpoints"));
  }
}

TEST_CASE_FIXTURE(Place, "a log gets the last line of a training, without control characters") {
  REQUIRE(run("--config " + config + " -o " + file("run")) == 0);
  const std::string messages = *read_text(file("messages"));
  CHECK_MESSAGE(messages.starts_with("1/1  "), messages);
  CHECK_MESSAGE(messages.ends_with(" of auto  0 s left\n"), messages);
  CHECK(messages.find_first_of("\r\x1b") == std::string::npos);
}

TEST_CASE_FIXTURE(Place, "a run is exported, whole or with a message") {
  const std::string folder = file("run"), out = file("p.plpo");
  REQUIRE(run("--config " + config + " -o " + folder) == 0);
  CHECK(run("export " + folder + " -o " + out) == 0);
  CHECK(run("export " + folder + " --best -o " + out) == 0);
  fails("export " + folder + " -o " + file("no/such/p.plpo"), 4, "cannot write there");
  fails("export " + folder + " -o ''", 2, "the argument after '-o' is empty");
  for (const char* name : {"config.toml", "./best.plpo", "metrics.csv"}) {
    fails("export " + folder + " -o " + folder + "/" + name, 2, "would be overwritten");
  }
  CHECK(run("export " + folder + " -o " + folder + "/mine.plpo") == 0);
  CHECK(run("export " + folder + " -o " + folder + "/mine.plpo") == 0);
  for (const char* best : {"", " --best"}) {
    CHECK(run("export " + folder + best + " -o " + out) == 0);
    CHECK(run("export " + folder + best + " -o -", file("printed")) == 0);
    CHECK(*read_text(file("printed")) == *read_text(out));
  }
  // A device is written to, and stays one.
  fs::create_symlink("/dev/null", file("device"));
  CHECK(run("export " + folder + " -o " + file("device")) == 0);
  CHECK(fs::is_symlink(file("device")));
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(run("export " + folder + " -o /dev/stdout | cat", file("printed")) == 0);
  CHECK(*read_text(file("printed")) == *read_text(out));
  fs::remove(out);

  write("run/best.plpo", "");
  fails("export " + folder + " --best -o " + out, 3, "run/best.plpo: is 0 bytes long");
  const std::string checkpoint = fs::directory_iterator(file("run/checkpoints"))->path();
  REQUIRE(write_whole(checkpoint, read_text(checkpoint)->substr(0, 100)).ok());
  fails("export " + folder + " -o " + out, 3, checkpoint + ": cut or damaged");
  fails("--resume " + folder, 3, checkpoint + ": cut or damaged");
  CHECK(!fs::exists(out));
  CHECK(fs::exists(file("run/config.toml")));
}

TEST_CASE_FIXTURE(Place, "a run folder with anything but files where files were is bad input") {
  REQUIRE(run("--config " + config + " -o " + file("run")) == 0);
  std::string text = *read_text(file("run/config.toml"));
  text.replace(text.find("iterations = 1"), 14, "iterations = 2");
  write("run/config.toml", text);
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(file("run"))) {
    names.push_back(fs::relative(entry.path(), file("run")).string());
  }
  CHECK(names.size() >= 10);  // two folders among them
  for (const std::string& name : names) {
    const std::string path = file("damaged/" + name);
    const bool was_folder = fs::is_directory(file("run/" + name));
    for (const bool pipe : {false, true}) {
      if (was_folder && !pipe) continue;
      fs::remove_all(file("damaged"));
      fs::copy(file("run"), file("damaged"), fs::copy_options::recursive);
      fs::remove_all(path);
      if (pipe) {
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
      } else {
        fs::create_directory(path);
      }
      fails("--resume " + file("damaged"), 3, path + ": is ");
    }
  }
}

TEST_CASE_FIXTURE(Place, "no output takes the place of an input, however it is written") {
  REQUIRE(fs::copy_file(PLACETO_MODELS "/placeto-ptb-2gpu.plpo", file("p.plpo")));
  fs::create_symlink("p.plpo", file("link"));
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  const std::string p = file("p.plpo"), on = " --graphs " + file("*.json") + " --topologies 2xk80 ";
  const std::string other = "would be overwritten, expected another file";
  const std::string before = *read_text(p), text = *read_text(graph);
  fails("eval " + p + on + "--csv " + p, 2, other);
  fails("eval " + p + on + "--svg " + file("./p.plpo"), 2, other);
  fails("eval " + p + on + "--csv " + graph, 2, other);
  fails("starts " + p + on + "--csv " + file("link"), 2, other);
  fails("starts " + file("link") + on + "--csv " + graph, 2, other);
  fails("pareto " + p + " --csv " + file("link"), 2, other);
  fails("table " + p + " --csv " + p, 2, other);
  CHECK(*read_text(p) == before);
  CHECK(*read_text(graph) == text);
}

TEST_CASE_FIXTURE(Place, "an output that is '-' is printed, and nothing else is") {
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  REQUIRE(run("starts " PLACETO_MODELS "/placeto-ptb-2gpu.plpo --graphs " + graph +
                  " --topologies 2xk80 --csv -",
              file("out")) == 0);
  CHECK(read_text(file("out"))->find("set,graphs,policy") == 0);
  CHECK(read_text(file("messages"))->find("best heuristic's") != std::string::npos);
  CHECK(!fs::exists("-"));
}

TEST_CASE_FIXTURE(Place, "folders that cannot be made and streams that are closed are errors") {
  const std::string begin = "--config " + config + " -o ";
  fails(begin + file(std::string(300, 'a')), 4, "cannot create");
  fs::create_symlink("loop", file("loop"));
  fails(begin + file("loop"), 4, "cannot create");
  CHECK(std::system(PLACETO_TRAIN " --version >&- 2>&-") == 4 << 8);
  REQUIRE(std::system(("mkfifo " + file("p.graph")).c_str()) == 0);
  fails("--graphs " + file("p.graph") + " --topologies 2xk80 -o " + file("run"), 3,
        "p.graph: expected a regular file");
  CHECK(!fs::exists(file("run")));
}

TEST_CASE_FIXTURE(Place, "output that gets lost is an error") {
  fails("--print-config", 4, "standard output", "/dev/full");
  fails("--help", 4, "standard output", "/dev/full");
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  const std::string on = " --graphs " + graph + " --topologies 2xk80 --csv " + file("x.csv");
  fails("eval default --budgets 1 --long-searches 0" + on, 4, "standard output", "/dev/full");
  fails("starts " PLACETO_MODELS "/placeto-ptb-2gpu.plpo" + on, 4, "standard output", "/dev/full");
  CHECK(!fs::exists(file("x.csv")));
  // Nobody reads it, which is no error, and no reason to lose the files.
  CHECK(std::system(("( sleep 0.1; " PLACETO_TRAIN " starts " PLACETO_MODELS
                     "/placeto-ptb-2gpu.plpo" +
                     on + " ) | true")
                        .c_str()) == 0);
  CHECK(fs::exists(file("x.csv")));
}
