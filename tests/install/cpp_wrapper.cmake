# The C++ wrapper, placeto.hpp, as a text: two sources of one program must read the same one, and
# nothing of placeto.h may be missing.
#
#   cmake -D INCLUDE=runtime/include -D CXX=compiler -D WORK=scratch folder -P cpp_wrapper.cmake
cmake_minimum_required(VERSION 3.22)
file(MAKE_DIRECTORY ${WORK})

# compile(code [flag...]): `result` and `error` of a source that includes the wrapper.
function(compile code)
  file(WRITE ${WORK}/source.cpp "#include <placeto/placeto.hpp>\n${code}\n")
  execute_process(COMMAND ${CXX} -std=c++17 -I${INCLUDE} -fsyntax-only ${ARGN} ${WORK}/source.cpp
    RESULT_VARIABLE result ERROR_VARIABLE error)
  set(result ${result} PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
endfunction()

# namespace_of(out [flag...]): its namespace as the compiler reads it, but for what throws.
function(namespace_of out)
  file(WRITE ${WORK}/source.cpp "#include <placeto/placeto.hpp>\n")
  execute_process(COMMAND ${CXX} -std=c++17 -I${INCLUDE} -E -P ${ARGN} ${WORK}/source.cpp
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(FIND "${text}" "inline namespace api {" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "class Exception " begin)
  string(FIND "${text}" "namespace detail {" end)
  if(NOT begin EQUAL -1)
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(SUBSTRING "${text}" ${end} -1 after)
    set(text "${before}${after}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(LENGTH "${text}" length)
  if(length LESS 10000 OR end LESS begin)
    message(FATAL_ERROR "the wrapper was not found in ${length} bytes of what the compiler reads")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# 1. The same with exceptions and without, and whatever is defined: else two sources of one program
#    would define one class in two ways.
namespace_of(plain)
foreach(flag -fno-exceptions -DPLACETO_EXCEPTIONS)
  namespace_of(other ${flag})
  if(NOT plain STREQUAL other)
    message(FATAL_ERROR "${flag} makes another text of placeto.hpp")
  endif()
endforeach()
message(STATUS "the same text with exceptions and without")

# 2. Without exceptions what throws is refused, when it is compiled, and nothing else.
set(call "int f(placeto::Expected<int> x) { return std::move(x).value_or_throw(); }")
compile("" -fno-exceptions -fno-rtti)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "does not compile without exceptions:\n${error}")
endif()
compile("${call}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "value_or_throw does not compile:\n${error}")
endif()
compile("${call}" -fno-exceptions)
if(result EQUAL 0 OR NOT error MATCHES "throw_error_of")
  message(FATAL_ERROR "value_or_throw compiles without exceptions, or fails in another way:\n${error}")
endif()
message(STATUS "without exceptions value_or_throw is refused, and nothing else")

# 3. Every function of placeto.h is called, or is left to C on purpose.
set(left_to_c "")  # names, with the reason; so far there are none

file(READ ${INCLUDE}/placeto/placeto.h c_header)
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" c_header "${c_header}")
string(REGEX MATCHALL "PLACETO_API [^(;]*placeto_[a-z0-9_]+\\(" declared "${c_header}")
string(REGEX MATCHALL "PLACETO_API [^(;]*\\(" marked "${c_header}")
list(FILTER marked EXCLUDE REGEX "__attribute__")
list(LENGTH declared count)
list(LENGTH marked marked_count)
if(count LESS 70 OR NOT count EQUAL marked_count)
  message(FATAL_ERROR "found ${count} names of ${marked_count} functions in placeto.h")
endif()
file(READ ${INCLUDE}/placeto/placeto.hpp wrapper)
string(REGEX REPLACE "//[^\n]*" "" wrapper "${wrapper}")
set(missing "")
foreach(function ${declared})
  string(REGEX REPLACE "^.*[^a-z0-9_](placeto_[a-z0-9_]+)\\($" "\\1" function "${function}")
  string(REGEX MATCH "[^a-z0-9_]${function}[^a-z0-9_]" called "${wrapper}")
  if(function IN_LIST left_to_c)
    list(REMOVE_ITEM left_to_c ${function})
    if(called)
      message(FATAL_ERROR "${function} is called by placeto.hpp: take it off the list in this test")
    endif()
  elseif(NOT called)
    list(APPEND missing ${function})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "in placeto.h and not in placeto.hpp: ${missing}. Give each a counterpart, or "
    "name it in this test, and at the top of placeto.hpp, as left to C")
endif()
if(left_to_c)
  message(FATAL_ERROR "left to C in this test, and not in placeto.h: ${left_to_c}")
endif()
message(STATUS "${count} functions of placeto.h, all with a counterpart or left to C")
