# run(COMMAND...): its output, without blanks at the end, is in `output`; fails with all it printed.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "${line}\nreturned ${result}\n${output}\n${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
