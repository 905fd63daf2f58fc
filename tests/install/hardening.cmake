# What the linker and the compiler were asked for is in the files.
#
#   cmake -D FILES=a;b -D READELF=readelf -D OBJDUMP=objdump -D NM=nm [-D GUARDED=ON]
#     [-D FORTIFIED=b] [-D LANDINGS=endbr64] -P hardening.cmake
#
# GUARDED: stacks are checked. FORTIFIED: those of the files that check lengths, too. LANDINGS: the
# instruction where alone jumps may lead. The files' notes do not tell, for these are of what all
# objects have in common, and few systems compile those that start a program so.
cmake_minimum_required(VERSION 3.22)

function(run out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${error}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

foreach(file IN LISTS FILES)
  run(segments ${READELF} -hlW ${file})
  run(dynamic ${READELF} -dW ${file})
  if(NOT segments MATCHES "Type: +DYN")
    message(FATAL_ERROR "${file} is not position-independent")
  endif()
  if(NOT segments MATCHES "GNU_RELRO" OR NOT dynamic MATCHES "(BIND_NOW|FLAGS_1[^\n]*NOW)")
    message(FATAL_ERROR "${file}: resolved addresses stay writable, expected full RELRO")
  endif()
  if(NOT segments MATCHES "GNU_STACK [^\n]* RW " OR dynamic MATCHES "TEXTREL")
    message(FATAL_ERROR "${file} has a stack that can be executed, or code that can be written")
  endif()
  if(NOT GUARDED)
    continue()
  endif()
  run(symbols ${NM} -D -u ${file})
  if(NOT symbols MATCHES "__stack_chk_fail")
    message(FATAL_ERROR "${file} does not check its stack: expected -fstack-protector-strong")
  endif()
  if(file IN_LIST FORTIFIED AND NOT symbols MATCHES "__mem(cpy|move|set)_chk|__v?s?n?printf_chk|__fprintf_chk")
    message(FATAL_ERROR "${file} calls nothing that checks lengths: expected _FORTIFY_SOURCE")
  endif()
  if(LANDINGS)
    run(code ${OBJDUMP} -d --no-show-raw-insn ${file})
    string(REGEX MATCHALL "${LANDINGS}" landings "${code}")
    list(LENGTH landings count)
    if(count LESS 100)
      message(FATAL_ERROR "${file}: jumps may lead to all but ${count} places, expected -fcf-protection")
    endif()
  endif()
endforeach()
