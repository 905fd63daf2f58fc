# Fails if the example needs more memory than its limit.
#
#   cmake -D EXAMPLE=program -D POLICY=file -D LIMIT_KIB=kibibytes -P memory.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${EXAMPLE} ${POLICY} RESULT_VARIABLE result OUTPUT_VARIABLE output
  ERROR_VARIABLE error)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${EXAMPLE} ended with ${result}: ${error}")
endif()
string(JSON peak GET "${output}" peak_kib)
if(NOT peak GREATER 0 OR peak GREATER LIMIT_KIB)
  message(FATAL_ERROR "peak memory is ${peak} KiB, expected at most ${LIMIT_KIB}")
endif()
message(STATUS "${peak} KiB at most, limit ${LIMIT_KIB}")
