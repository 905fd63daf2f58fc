# Builds the runtime for this machine (optimised, for debugging, for size) and for 64-bit Arm, and
# fails unless all compute the same bits; then runs the runtime's tests on Arm.
#
#   cmake -D WORK=build/cross [-D JOBS=2] -P tests/cross/check.cmake
cmake_minimum_required(VERSION 3.22)
if(NOT WORK)
  message(FATAL_ERROR "say where to build: -D WORK=build/cross")
endif()
if(NOT JOBS)
  set(JOBS 2)
endif()
get_filename_component(WORK ${WORK} ABSOLUTE)
set(toolchain ${CMAKE_CURRENT_LIST_DIR}/../../cmake/aarch64.cmake)
find_program(cross aarch64-linux-gnu-g++)
find_program(qemu NAMES qemu-aarch64-static qemu-aarch64)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

# Builds `targets` in a folder of that name; further arguments go to CMake.
function(build name targets)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/${name} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${name} -j ${JOBS} --target ${targets})
endfunction()

function(compare name)
  execute_process(COMMAND ${ARGN} ${WORK}/${name}/bin/digest
    RESULT_VARIABLE result OUTPUT_VARIABLE text)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name}: digest ended with ${result}")
  endif()
  if(NOT DEFINED expected)
    set(expected "${text}" PARENT_SCOPE)
    message(STATUS "${name}:\n${text}")
  elseif(text STREQUAL expected)
    message(STATUS "${name}: the same")
  else()
    message(FATAL_ERROR "${name} computes something else:\n${text}")
  endif()
endfunction()

build(release digest -DCMAKE_BUILD_TYPE=Release)
compare(release)
build(debug digest -DCMAKE_BUILD_TYPE=Debug)
compare(debug)
build(minsize digest -DCMAKE_BUILD_TYPE=MinSizeRel -DPLACETO_EXCEPTIONS=OFF)
compare(minsize)
if(NOT cross OR NOT qemu)
  message(FATAL_ERROR "skipped on Arm: no aarch64-linux-gnu-g++ or no qemu-aarch64 here "
                      "(packages g++-aarch64-linux-gnu and qemu-user-static)")
endif()
# FlatBuffers is headers here, and flatc this machine's: what the first build found will do.
file(STRINGS ${WORK}/release/CMakeCache.txt flatbuffers REGEX "^FlatBuffers_DIR:")
string(REGEX REPLACE "^[^=]*=" "" flatbuffers "${flatbuffers}")
build(aarch64 all -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=${toolchain}
  -DFlatBuffers_DIR=${flatbuffers})
compare(aarch64 ${qemu} -L /usr/aarch64-linux-gnu)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/aarch64 --output-on-failure)
