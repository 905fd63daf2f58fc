#include "trainer/base/progress.h"

#include <doctest/doctest.h>

#include <memory>

#include "tests/trainer/support.h"
#include "trainer/base/files.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// A log: no terminal.
struct Log : test::TemporaryFolder {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> to{std::fopen(file("log").c_str(), "w"),
                                                     std::fclose};
  std::string text() const { return *read_text(file("log")); }
};

}  // namespace

TEST_CASE_FIXTURE(Log, "a log gets plain lines, at once, each whole") {
  ProgressLine line(to.get(), std::chrono::seconds(0));
  line.show("1/4  sampled 1.3");
  CHECK(text() == "1/4  sampled 1.3\n");
  line.clear();
  const OnProgress count = line.callback();
  count(2, 2);
  CHECK(text() == "1/4  sampled 1.3\n2/2  0 s left\n");
}

TEST_CASE_FIXTURE(Log, "a log gets no line before it is due, but the last") {
  {
    ProgressLine line(to.get(), std::chrono::hours(1));
    line.callback()(1, 2);
    line.show("1/2");
    CHECK(text().empty());
    line.show("2/2", true);
  }
  CHECK(text() == "2/2\n");
}
