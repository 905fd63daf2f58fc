# Fails if a library, stripped, has grown beyond its limit.
#
#   cmake -D LIBRARY=file -D STRIP=strip -D COPY=scratch file -D LIMIT=bytes -P limit.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${STRIP} -o ${COPY} ${LIBRARY} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cannot strip ${LIBRARY}")
endif()
file(SIZE ${COPY} size)
if(size GREATER LIMIT)
  message(FATAL_ERROR "${LIBRARY} has ${size} bytes without symbols, expected at most ${LIMIT}. "
    "See what grew (nm --size-sort -S -C); raise the limit only for something that is worth it.")
endif()
message(STATUS "${size} bytes without symbols, at most ${LIMIT}")
