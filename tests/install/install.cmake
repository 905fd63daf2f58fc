# Installs the library, moves the tree, and builds and runs programs against it.
#
#   cmake -D BUILD=build folder -D WORK=scratch folder -D CC=compiler -D CXX=compiler
#         -D CONSUMER=folder of the project -D PKG_CONFIG=program -P install.cmake
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "${line}\nreturned ${result}\n${output}\n${error}")
  endif()
  string(STRIP "${output}" output)
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --component library --prefix ${WORK}/first)
# Nothing may depend on where it was installed.
set(prefix ${WORK}/moved)
file(RENAME ${WORK}/first ${prefix})

# What is there: two headers, which include nothing of FlatBuffers or oneDNN, and the libraries.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
list(SORT headers)
if(NOT headers STREQUAL "placeto/placeto.h;placeto/placeto.hpp")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
foreach(header ${headers})
  file(READ ${prefix}/include/${header} text)
  if(text MATCHES "flatbuffers|dnnl|_generated")
    message(FATAL_ERROR "${header} mentions ${CMAKE_MATCH_0}")
  endif()
endforeach()
file(GLOB_RECURSE shared ${prefix}/libplaceto.so)
file(GLOB_RECURSE archive ${prefix}/libplaceto.a)
file(GLOB_RECURSE pc ${prefix}/placeto.pc)
if(NOT shared OR NOT archive OR NOT pc)
  message(FATAL_ERROR "missing: shared '${shared}', static '${archive}', pkg-config '${pc}'")
endif()

foreach(link shared static)
  set(build ${WORK}/consumer-${link})
  run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${build} -D LINK=${link} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_C_COMPILER=${CC} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release)
  file(STRINGS ${build}/CMakeCache.txt found REGEX "^placeto_DIR:")
  string(FIND "${found}" "${prefix}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "another package was found: ${found}")
  endif()
  run(${CMAKE_COMMAND} --build ${build})
  foreach(program consumer_c consumer_cpp)
    run(${build}/${program})
    message(STATUS "${link} ${program}: ${output}")
  endforeach()
endforeach()

if(NOT PKG_CONFIG)
  message(STATUS "pkg-config not found: its file was not tried")
  return()
endif()
get_filename_component(pc_dir ${pc} DIRECTORY)
get_filename_component(lib_dir ${shared} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(${PKG_CONFIG} --cflags --libs placeto)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} -std=c99 -Wall -Wextra -Wpedantic -Werror ${CONSUMER}/consumer.c
  -o ${WORK}/by_pkg_config ${flags})
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${lib_dir} ${WORK}/by_pkg_config)
message(STATUS "pkg-config: ${output}")

# The private flags must suffice for the archive: with no shared library beside it, it is taken.
file(REMOVE ${shared})
run(${PKG_CONFIG} --static --cflags --libs placeto)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} -std=c99 ${CONSUMER}/consumer.c -o ${WORK}/by_pkg_config_static ${flags})
run(${WORK}/by_pkg_config_static)
message(STATUS "pkg-config --static: ${output}")
