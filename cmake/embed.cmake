# For scripts that turn files into C++ sources.

# Sets `bytes` to the bytes of the file as a string literal, which compiles in no time; of a file that
# is not there, to an empty one.
function(bytes_of file)
  set(text "")
  if(EXISTS ${file})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${hex}")
  endif()
  set(bytes "\"${text}\"" PARENT_SCOPE)
endfunction()
