# As a part of another project: its build type stays its own, and so do its modules, which may be called as
# ours are.
#
#   cmake -D SOURCE=checkout -D WORK=folder -P subproject.cmake
cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE ${WORK})
file(GLOB modules RELATIVE ${SOURCE}/cmake ${SOURCE}/cmake/*.cmake)
foreach(module ${modules})
  file(WRITE ${WORK}/host/cmake/${module} "message(FATAL_ERROR \"took the host's ${module}\")\n")
endforeach()
file(WRITE ${WORK}/host/CMakeLists.txt "
cmake_minimum_required(VERSION 3.22)
project(host LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH \${CMAKE_CURRENT_SOURCE_DIR}/cmake)
add_subdirectory(${SOURCE} placeto)
if(CMAKE_BUILD_TYPE)
  message(FATAL_ERROR \"the host has the build type \${CMAKE_BUILD_TYPE}, which it did not choose\")
endif()
")
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_BUILD_TYPE
  ${CMAKE_COMMAND} -S ${WORK}/host -B ${WORK}/build RESULT_VARIABLE result
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a project with Placeto as a part of it is not configured:\n${output}")
endif()
