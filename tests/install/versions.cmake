# One version everywhere: project, header, SONAME, CMake package, pkg-config file, recipes.
#
#   cmake -D SOURCE=checkout -D BUILD=build folder -D VERSION=of the project -D SONAME=of the library
#         -P versions.cmake
cmake_minimum_required(VERSION 3.22)

function(expect file pattern)
  file(READ ${file} text)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${file}: expected '${pattern}', the version of the project")
  endif()
endfunction()

string(REPLACE "." ";" numbers ${VERSION})
list(GET numbers 0 major)
list(GET numbers 1 minor)
list(GET numbers 2 patch)
set(header ${SOURCE}/runtime/include/placeto/placeto.h)
expect(${header} "#define PLACETO_VERSION_MAJOR ${major}\n")
expect(${header} "#define PLACETO_VERSION_MINOR ${minor}\n")
expect(${header} "#define PLACETO_VERSION_PATCH ${patch}\n")

# What runtime/README.md promises: below 1.0 a minor version, from then on a major one, is a new
# binary interface.
if(major EQUAL 0)
  set(expected libplaceto.so.0.${minor})
else()
  set(expected libplaceto.so.${major})
endif()
if(NOT SONAME STREQUAL expected)
  message(FATAL_ERROR "SONAME is ${SONAME}, expected ${expected}")
endif()

string(REPLACE "." "\\." escaped ${VERSION})
expect(${BUILD}/placetoConfigVersion.cmake "set\\(PACKAGE_VERSION \"${escaped}\"\\)")
expect(${BUILD}/placeto.pc "Version: ${escaped}\n")
set(recipes ${SOURCE}/cmake/packaging)
expect(${recipes}/conan/conanfile.py "version = \"${escaped}\"")
file(READ ${recipes}/vcpkg/vcpkg.json port)
string(JSON port_version GET "${port}" version)
if(NOT port_version STREQUAL VERSION)
  message(FATAL_ERROR "vcpkg.json: version is ${port_version}, expected ${VERSION}")
endif()
find_program(PYTHON python3)
if(PYTHON)
  execute_process(COMMAND ${PYTHON} -c "import ast, sys; ast.parse(open(sys.argv[1]).read())"
    ${recipes}/conan/conanfile.py RESULT_VARIABLE result ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "conanfile.py: ${error}")
  endif()
endif()
