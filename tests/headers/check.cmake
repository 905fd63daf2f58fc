# Every header of the runtime compiles alone, without generated headers and without anything but the
# C++ standard library; those of `private_headers` are for .cpp files of the runtime only. Those of
# the tools that read no models and run no engines do, too. Builds in batches would hide one that
# does not.
#
# cmake -D COMPILER=c++ -D ROOT=<repository> -D GENERATED=<its generated headers>
#       -D WORK=<scratch folder> -P check.cmake
#
# The list is not written by hand: a header that nobody added to it would never be checked.
cmake_minimum_required(VERSION 3.22)
set(private_headers
  runtime/format/buffer.h           # FlatBuffers
  runtime/policy/file/policy_content.h)  # the generated header of policy.fbs

# Compiles each of `headers` twice in a source of its own.
function(check_alone what headers)
  list(LENGTH headers count)
  if(count LESS 10)
    message(FATAL_ERROR "only ${count} headers of the ${what} below ${ROOT}: is that the repository?")
  endif()
  set(sources "")
  foreach(header ${headers})
    string(REPLACE "/" "_" name ${header})
    file(WRITE ${WORK}/${name}.cpp "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${WORK}/${name}.cpp)
  endforeach()
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I${ROOT} ${ARGN} ${sources}
    RESULT_VARIABLE failed ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "headers of the ${what} that do not compile alone:\n${errors}")
  endif()
  message(STATUS "${count} headers of the ${what} compile alone")
endfunction()

file(MAKE_DIRECTORY ${WORK})
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/runtime/*.h)
list(REMOVE_ITEM headers ${private_headers})
check_alone(runtime "${headers}")
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/tools/*.h)
list(FILTER headers INCLUDE REGEX "^tools/(costs|devices|io|machine|options|partition|report|signature|workloads)/")
check_alone(tools "${headers}" -I${GENERATED})
