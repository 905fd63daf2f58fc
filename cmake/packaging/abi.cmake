# Compares the library's binary interface with that of an earlier commit.
#
#   cmake -D SOURCE=checkout -D WORK=scratch folder [-D BASE=tag or commit] -P abi.cmake
#
# BASE: the latest tag v* by default. Its library is built in WORK; nothing is kept elsewhere.
cmake_minimum_required(VERSION 3.22)
find_program(ABIDIFF abidiff)
find_program(GIT git)
if(NOT ABIDIFF OR NOT GIT)
  message(FATAL_ERROR "needs abidiff (Debian: abigail-tools) and git")
endif()
if(NOT BASE)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --tags --abbrev=0 --match "v*"
    OUTPUT_VARIABLE BASE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT BASE)
    message(STATUS "no tag v* yet: nothing to compare with. PLACETO_ABI_BASE names a commit.")
    return()
  endif()
endif()

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nreturned ${result}\n${output}\n${error}")
  endif()
endfunction()

# Both sides in the same way, with debugging information, which says what types are made of.
function(build source build)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -D CMAKE_BUILD_TYPE=Debug
    -D CMAKE_CXX_FLAGS_DEBUG=-g -D PLACETO_BUILD_TOOLS=OFF -D PLACETO_BUILD_TESTS=OFF
    -D PLACETO_BUILD_BENCHMARKS=OFF -D PLACETO_ONEDNN=OFF)
  run(${CMAKE_COMMAND} --build ${build} --target placeto)
endfunction()

file(REMOVE_RECURSE ${WORK}/base)
file(MAKE_DIRECTORY ${WORK}/base)
run(${GIT} -C ${SOURCE} archive --output=${WORK}/base.tar ${BASE})
run(${CMAKE_COMMAND} -E chdir ${WORK}/base ${CMAKE_COMMAND} -E tar xf ${WORK}/base.tar)
build(${WORK}/base ${WORK}/base-build)
build(${SOURCE} ${WORK}/build)

execute_process(COMMAND ${ABIDIFF}
  --headers-dir1 ${WORK}/base/runtime/include --headers-dir2 ${SOURCE}/runtime/include
  ${WORK}/base-build/runtime/capi/libplaceto.so ${WORK}/build/runtime/capi/libplaceto.so
  RESULT_VARIABLE changes OUTPUT_VARIABLE output ERROR_VARIABLE error)
message("${output}${error}")
# abidiff's status is a set of bits: 1 and 2 are errors of its own, 4 is a change, 8 an incompatible
# one. Functions that were added change nothing for those who use the others.
math(EXPR failed "${changes} & 3")
math(EXPR incompatible "${changes} & 8")
if(failed)
  message(FATAL_ERROR "abidiff failed")
elseif(incompatible)
  message(FATAL_ERROR "incompatible with ${BASE}: the version must say so (see runtime/README.md)")
elseif(changes)
  message(STATUS "changed since ${BASE}, see above")
else()
  message(STATUS "the same interface as ${BASE}")
endif()
