# What the built libraries have and must not have.
#
#   cmake -D SHARED=libplaceto.so -D CORE=libplaceto_core.a -D NM=nm -D OBJDUMP=objdump
#         -D READELF=readelf -D SONAME=expected -P symbols.cmake
#
# Without CORE only the shared library is looked at. PREFIX: what its names begin with; LEAST: how
# many there are; NEEDED: the libraries that it may need, as a regular expression.
cmake_minimum_required(VERSION 3.22)
if(NOT PREFIX)
  set(PREFIX placeto_)
  set(LEAST 50)
endif()

function(lines_of out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${error}")
  endif()
  # Semicolons and brackets mean something in CMake's lists.
  string(REGEX REPLACE "[][;]" "|" text "${text}")
  string(REGEX REPLACE "\n+" ";" lines "${text}")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# 1. Exported: names with that prefix and nothing else.
lines_of(exported ${NM} -D --defined-only ${SHARED})
list(FILTER exported EXCLUDE REGEX "^$")
list(LENGTH exported count)
list(FILTER exported EXCLUDE REGEX "^[0-9a-f]+ T ${PREFIX}[a-z0-9_]+$")
if(exported OR count LESS LEAST)
  message(FATAL_ERROR "${count} exported symbols, among them not ours: ${exported}")
endif()
message(STATUS "${count} exported symbols, all ${PREFIX}...")

# 2. The name that programs record.
lines_of(dynamic ${READELF} -d ${SHARED})
set(needed ${dynamic})
list(FILTER needed INCLUDE REGEX "\\(NEEDED\\)")
list(FILTER dynamic INCLUDE REGEX "SONAME")
if(NOT dynamic MATCHES "\\|${SONAME}\\|")
  message(FATAL_ERROR "${dynamic}, expected SONAME ${SONAME}")
endif()

if(NEEDED)
  list(FILTER needed EXCLUDE REGEX "\\|(${NEEDED})\\.so[.0-9]*\\|")
  if(needed)
    message(FATAL_ERROR "needs what it promises not to need: ${needed}")
  endif()
endif()

if(NOT CORE)
  return()
endif()

# 3. No writable data: nothing global that threads could share. .data.rel.ro is written by the
#    dynamic loader alone: tables of addresses.
lines_of(symbols ${OBJDUMP} -t ${CORE})
list(LENGTH symbols symbol_count)
if(symbol_count LESS 1000)
  message(FATAL_ERROR "only ${symbol_count} symbols in ${CORE}")
endif()
list(FILTER symbols INCLUDE REGEX "^[0-9a-f]+ .* (\\*COM\\*|\\.t?data|\\.t?bss)")
list(FILTER symbols EXCLUDE REGEX " \\.data\\.rel\\.ro")
list(FILTER symbols EXCLUDE REGEX "^[0-9a-f]+ .    d[ fF]")  # the sections themselves
list(FILTER symbols EXCLUDE REGEX " DW\\.ref\\.")  # the compiler's, for unwinding
if(symbols)
  list(JOIN symbols "\n  " symbols)
  message(FATAL_ERROR "writable globals:\n  ${symbols}")
endif()
message(STATUS "no writable globals among ${symbol_count} symbols")

# 4. Nothing that opens a connection, starts a thread or a program, or reads the environment. (oneDNN,
#    a library of its own, does as it does.)
lines_of(needed ${NM} -u ${CORE})
list(LENGTH needed needed_count)
if(needed_count LESS 200)
  message(FATAL_ERROR "only ${needed_count} undefined symbols in ${CORE}")
endif()
list(FILTER needed INCLUDE REGEX
  " U (getenv|secure_getenv|setenv|environ|socket|connect|getaddrinfo|dlopen|system|popen|fork|exec[a-z]+|posix_spawnp?|pthread_create|thrd_create|_ZNSt6thread.*)(@.*)?$")
if(needed)
  list(JOIN needed "\n  " needed)
  message(FATAL_ERROR "${CORE} uses what it promises not to use:\n  ${needed}")
endif()
message(STATUS "no connections, threads, programs or environment among ${needed_count} needed symbols")

# 5. No definition of FlatBuffers under its own name, for which a program may have others.
lines_of(defined ${NM} -C --defined-only ${CORE})
list(FILTER defined INCLUDE REGEX "[ (]flatbuffers::")
if(defined)
  list(JOIN defined "\n  " defined)
  message(FATAL_ERROR "${CORE} defines what a program may define otherwise:\n  ${defined}")
endif()
message(STATUS "no definitions of FlatBuffers under its own name")
