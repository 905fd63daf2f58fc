# Turns models/default.plpo, models/topologies and models/engines into a C++ source:
#   cmake -D OUT=x.cpp -D POLICY=default.plpo -D "TOPOLOGIES=a.json;b.json"
#         "ENGINES=c.json" -P embed.cmake
# A policy that does not exist is empty.

include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed.cmake)

bytes_of(${POLICY})
set(text "#include \"tools/io/shipped.h\"

namespace placeto::shipped {

template <size_t kSize>
static std::span<const uint8_t> span_of(const char (&text)[kSize]) {
  return {reinterpret_cast<const uint8_t*>(text), kSize - 1};  // without the end of the string
}

alignas(8) static const char policy[] = ${bytes};

std::span<const uint8_t> default_policy() { return span_of(policy); }

")
foreach(kind topologies engines)
  string(TOUPPER ${kind} files)
  set(list "")
  set(index 0)
  foreach(file ${${files}})
    get_filename_component(name ${file} NAME_WE)
    bytes_of(${file})
    string(APPEND text "static const char ${kind}_${index}[] = ${bytes};\n")
    string(APPEND list "      {\"${name}\", span_of(${kind}_${index})},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND text "
std::span<const File> ${kind}() {
  static const File files[] = {\n${list}  };
  return files;
}

")
endforeach()
string(APPEND text "}  // namespace placeto::shipped
")
file(WRITE ${OUT} "${text}")
