// The page of a run: what it shows, and that names cannot become markup.
#include "tools/report/run_page.h"

#include <doctest/doctest.h>

using namespace placeto;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the page of a run shows every stage measured and predicted, on one scale") {
  RunReport report;
  report.title = "<net> & co";
  report.devices = {"cpu:0", "gpu:0"};
  report.stages = {{"stage_0.onnx", 0, 0, 40, 0, 30}, {"stage_1.onnx", 1, 40, 60, 30, 50}};
  report.measured_us = 100;
  report.predicted_us = 80;
  report.facts = {{"of the whole", "0.9"}};
  report.remarks = {"outputs agree", "1 thread"};
  report.cuts = {{"<t>", 0, 1, 2048, 7, 9}};
  const std::string page = run_page(report);
  CHECK(page.find("<net>") == std::string::npos);
  CHECK(page.find("&lt;net&gt; &amp; co") != std::string::npos);
  CHECK(count(page, "title=\"0: stage_0.onnx on cpu:0") == 2);
  CHECK(count(page, "title=\"1: stage_1.onnx on gpu:0") == 2);
  CHECK(page.find("80.00 µs (-20%)") != std::string::npos);
  CHECK(page.find("100.0 µs measured, 80.00 µs predicted; outputs agree; 1 thread<") !=
        std::string::npos);
  CHECK(page.find("<td class=\"text\">&lt;t&gt;</td><td>0</td><td>1</td><td>2.00 KiB</td>"
                  "<td>7.000 µs</td><td>9.000 µs</td>") != std::string::npos);
  CHECK(page.find(" us") == std::string::npos);
  CHECK(page.find("of the whole") != std::string::npos);

  report.predicted_us = 0;
  for (RunStage& stage : report.stages) stage.predicted_us = 0;
  CHECK(count(run_page(report), "title=\"0: stage_0.onnx on cpu:0") == 1);
}

TEST_CASE("the page of a run without stages or times is a page, too") {
  CHECK(run_page({}).find("</html>") != std::string::npos);
}
