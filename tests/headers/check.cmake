# Every header of the runtime compiles alone, without generated headers and without anything but the
# C++ standard library; those of `private_headers` are for .cpp files of the runtime only.
#
# cmake -D COMPILER=c++ -D ROOT=<repository> -D WORK=<scratch folder> -P check.cmake
#
# The list is not written by hand: a header that nobody added to it would never be checked.
cmake_minimum_required(VERSION 3.22)
set(private_headers
  runtime/format/buffer.h           # FlatBuffers
  runtime/policy/file/policy_content.h)  # the generated header of policy.fbs

file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/runtime/*.h)
list(LENGTH headers count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} headers below ${ROOT}/runtime: is that the repository?")
endif()
file(MAKE_DIRECTORY ${WORK})
set(sources "")
foreach(header ${headers})
  if(header IN_LIST private_headers)
    continue()
  endif()
  string(REPLACE "/" "_" name ${header})
  file(WRITE ${WORK}/${name}.cpp "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND sources ${WORK}/${name}.cpp)
endforeach()
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I${ROOT} ${sources}
  RESULT_VARIABLE failed ERROR_VARIABLE errors)
if(failed)
  message(FATAL_ERROR "headers that do not compile alone:\n${errors}")
endif()
list(LENGTH sources count)
message(STATUS "${count} headers compile alone")
