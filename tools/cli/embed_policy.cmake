# Turns a policy file into a C++ source: cmake -D OUT=x.cpp -D FILE=default.plpo -P embed_policy.cmake
# A file that does not exist gives an empty policy.
set(bytes "")
if(EXISTS ${FILE})
  file(READ ${FILE} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
endif()
file(WRITE ${OUT} "#include \"tools/cli/shipped_policy.h\"

namespace placeto::cli::shipped {

alignas(8) static const uint8_t bytes[] = {${bytes}0};

std::span<const uint8_t> default_policy() { return {bytes, sizeof bytes - 1}; }

}  // namespace placeto::cli::shipped
")
