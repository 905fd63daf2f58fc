# Writes a manual page of what a program and its subcommands say with --help.
#
#   cmake -D PROGRAM=file -D NAME=of the program -D VERSION=of the project -D OUT=page.1
#         -D GZIP=gzip, which makes it page.1.gz -P manpage.cmake
cmake_minimum_required(VERSION 3.22)

# What it prints, as troff: nothing is filled or taken for a request.
function(help_of)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE help RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} --help returned ${result}")
  endif()
  set(help "${help}" PARENT_SCOPE)
  string(REPLACE "\\" "\\e" text "${help}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(text ".nf\n${text}.fi\n" PARENT_SCOPE)
endfunction()

help_of()
string(REGEX MATCH "^[^\n]*" summary "${help}")
string(REGEX REPLACE "\\.$" "" summary "${summary}")
set(page ".TH ${NAME} 1 \"\" \"${NAME} ${VERSION}\"\n.SH NAME\n${NAME} \\- ${summary}\n")
string(APPEND page ".SH SYNOPSIS\n.B ${NAME}\nCOMMAND [OPTIONS]\n.SH DESCRIPTION\n${text}")
# Their names are indented by two, what continues their descriptions by more.
string(REGEX MATCH "\nCommands:\n.*" listed "${help}")
string(REGEX REPLACE "\n\n.*" "" listed "${listed}")
string(REGEX MATCHALL "\n  [a-z]+" commands "${listed}")
foreach(command ${commands})
  string(STRIP "${command}" command)
  help_of(${command})
  string(TOUPPER "${command}" title)
  string(APPEND page ".SH ${title}\n${text}")
endforeach()
file(WRITE ${OUT} "${page}")
execute_process(COMMAND ${GZIP} -9nf ${OUT} COMMAND_ERROR_IS_FATAL ANY)
