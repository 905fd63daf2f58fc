# Turns text files into a C++ source with one array each:
#   cmake -D OUT=x.cpp -D FILES="a.html;b.css" -P embed.cmake
# defines placeto::page::a_html and b_css (std::string_view, declared in page_files.h).
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed.cmake)

set(text "#include \"tools/report/page_files.h\"\n\nnamespace placeto::page {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  bytes_of(${file})
  string(APPEND text "static const char ${name}_bytes[] = ${bytes};\n"
    "const std::string_view ${name}(${name}_bytes, sizeof ${name}_bytes - 1);\n")
endforeach()
string(APPEND text "}  // namespace placeto::page\n")
file(WRITE ${OUT} "${text}")
