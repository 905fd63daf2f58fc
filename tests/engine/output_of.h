// What a program prints, which has to end with 0.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace placeto::test {

inline std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = 0; (c = fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(pipe);
  CHECK_MESSAGE(status == 0, text);
  return text;
}

}  // namespace placeto::test
