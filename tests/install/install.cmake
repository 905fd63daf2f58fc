# Installs the library, moves the tree, and builds and runs programs against it.
#
#   cmake -D BUILD=build folder -D WORK=scratch folder -D CC=compiler -D CXX=compiler
#         -D CONSUMER=folder of the project -D PKG_CONFIG=program [-D ONNX=serve_stages.c]
#         [-D RUNNER=run_stages.c] [-D ENGINE=ON] -D MODEL=example.onnx -P install.cmake
#
# ONNX, RUNNER: there are these libraries; their programs in C. ENGINE: models can be run.
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(components runtime development)
set(expected_headers placeto/placeto.h placeto/placeto.hpp)
if(ONNX)
  list(APPEND components onnx_runtime onnx_development)
  list(APPEND expected_headers placeto/placeto_onnx.h)
endif()
if(RUNNER)
  list(APPEND components runner_runtime runner_development)
  list(APPEND expected_headers placeto/placeto_runner.h)
endif()
foreach(component ${components})
  run(${CMAKE_COMMAND} --install ${BUILD} --component ${component} --prefix ${WORK}/first)
endforeach()
# Nothing may depend on where it was installed.
set(prefix ${WORK}/moved)
file(RENAME ${WORK}/first ${prefix})

# What is there: headers, which include nothing of FlatBuffers, oneDNN or protobuf, and the libraries.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
list(SORT headers)
if(NOT headers STREQUAL expected_headers)
  message(FATAL_ERROR "installed headers: ${headers}")
endif()
foreach(header ${headers})
  file(READ ${prefix}/include/${header} text)
  if(text MATCHES "flatbuffers|dnnl|_generated|\\.pb\\.h")
    message(FATAL_ERROR "${header} mentions ${CMAKE_MATCH_0}")
  endif()
endforeach()
file(GLOB_RECURSE shared ${prefix}/libplaceto.so)
file(GLOB_RECURSE archive ${prefix}/libplaceto.a)
file(GLOB_RECURSE pc ${prefix}/placeto.pc)
if(NOT shared OR NOT archive OR NOT pc)
  message(FATAL_ERROR "missing: shared '${shared}', static '${archive}', pkg-config '${pc}'")
endif()

foreach(link shared static)
  set(build ${WORK}/consumer-${link})
  run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${build} -D LINK=${link} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_C_COMPILER=${CC} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release)
  file(STRINGS ${build}/CMakeCache.txt found REGEX "^placeto_DIR:")
  string(FIND "${found}" "${prefix}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "another package was found: ${found}")
  endif()
  run(${CMAKE_COMMAND} --build ${build})
  foreach(program consumer_c consumer_cpp)
    run(${build}/${program})
    message(STATUS "${link} ${program}: ${output}")
  endforeach()
endforeach()

# What is asked for and not there is named.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/consumer-absent -D LINK=absent
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${CC} -D CMAKE_CXX_COMPILER=${CXX}
  OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT output MATCHES "component 'absent' is not installed here")
  message(FATAL_ERROR "a component that is not there: ${result}, '${output}'")
endif()

if(NOT PKG_CONFIG)
  message(STATUS "pkg-config not found: its file was not tried")
  return()
endif()
get_filename_component(pc_dir ${pc} DIRECTORY)
get_filename_component(lib_dir ${shared} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(${PKG_CONFIG} --cflags --libs placeto)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} -std=c99 -Wall -Wextra -Wpedantic -Werror ${CONSUMER}/consumer.c
  -o ${WORK}/by_pkg_config ${flags})
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${lib_dir} ${WORK}/by_pkg_config)
message(STATUS "pkg-config: ${output}")

# A program in C with one of the other libraries, by both ways: `programs` are what comes of it.
function(build_consumer component source)
  run(${PKG_CONFIG} --cflags --libs placeto-${component})
  separate_arguments(flags UNIX_COMMAND "${output}")
  set(by_pkg_config ${WORK}/${component}_by_pkg_config)
  run(${CC} -std=c99 -Wall -Wextra -Wpedantic -Werror ${source} -o ${by_pkg_config} ${flags})
  set(folder ${WORK}/${component})
  file(WRITE ${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C)
find_package(placeto REQUIRED COMPONENTS ${component})
add_executable(consumer ${source})
target_link_libraries(consumer PRIVATE placeto::${component})
")
  run(${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_C_COMPILER=${CC})
  run(${CMAKE_COMMAND} --build ${folder}/build)
  set(programs ${by_pkg_config} ${folder}/build/consumer PARENT_SCOPE)
endfunction()

if(ONNX)
  build_consumer(onnx ${ONNX})
  foreach(program ${programs})
    file(REMOVE_RECURSE ${WORK}/stages)
    run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${lib_dir} ${program} ${MODEL} edge-cpu-gpu-npu
      ${WORK}/stages batch=1)
    message(STATUS "placeto-onnx: ${output}")
  endforeach()
endif()

if(RUNNER)  # on the stages, or on the model where nothing has made them
  build_consumer(runner ${RUNNER})
  set(runs ${MODEL})
  if(ONNX)
    set(runs ${WORK}/stages)
  endif()
  # It needs no other library of the tree: they are out of the loader's sight.
  file(MAKE_DIRECTORY ${WORK}/runner_alone)
  file(GLOB libraries ${lib_dir}/libplaceto-runner.so*)
  file(COPY ${libraries} DESTINATION ${WORK}/runner_alone)
  foreach(program ${programs})
    set(command ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/runner_alone ${program} ${runs} 10
      batch=1)
    if(ENGINE)
      run(${command})
    else()
      execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE output)
      if(result EQUAL 0 OR NOT output MATCHES "built without ONNX Runtime")
        message(FATAL_ERROR "${program} without an engine: ${result}, '${output}'")
      endif()
    endif()
    message(STATUS "placeto-runner: ${output}")
  endforeach()
endif()

# The private flags must suffice for the archive: with no shared library beside it, it is taken.
file(REMOVE ${shared})
run(${PKG_CONFIG} --static --cflags --libs placeto)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} -std=c99 ${CONSUMER}/consumer.c -o ${WORK}/by_pkg_config_static ${flags})
run(${WORK}/by_pkg_config_static)
message(STATUS "pkg-config --static: ${output}")
