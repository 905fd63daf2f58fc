# Installs what is read, and follows its links: files beside which another is not installed.
#
#   cmake -D BUILD=build folder -D WORK=scratch folder -P documents.cmake
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --component models --prefix ${WORK})
file(GLOB_RECURSE documents ${WORK}/*.md)
if(NOT documents)
  message(FATAL_ERROR "no documents are installed")
endif()
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  file(READ ${document} text)
  string(REPLACE "](" "LINK " text "${text}")  # brackets and semicolons mean something in lists
  string(REGEX REPLACE "[][;]" "" text "${text}")
  string(REGEX MATCHALL "LINK [^)#]+" links "${text}")
  foreach(link ${links})
    string(REPLACE "LINK " "" link "${link}")
    if(NOT link MATCHES "^https?:" AND NOT EXISTS ${folder}/${link})
      message(FATAL_ERROR "${document}: ${link} is not installed")
    endif()
  endforeach()
endforeach()
