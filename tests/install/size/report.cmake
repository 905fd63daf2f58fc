# What the library costs, in the ways it can be built: sizes, peak memory and speed, as a table in
# Markdown.
#
#   cmake -D SOURCE=checkout -D WORK=scratch folder -D STRIP=strip -D CC=compiler -D CXX=compiler
#         [-D ONEDNN_ROOT=folder of another oneDNN] -P report.cmake
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/../run.cmake)

function(stripped_kib file out)
  run(${STRIP} -o ${WORK}/stripped ${file})
  file(SIZE ${WORK}/stripped bytes)
  math(EXPR kib "(${bytes} + 1023) / 1024")
  set(${out} ${kib} PARENT_SCOPE)
endfunction()

set(table "| build | shared library, KiB | static example, KiB | peak memory, MiB | load, ms | place, ms |
|---|---|---|---|---|---|")
set(makespans)
foreach(build "Release;ON" "Release;OFF" "MinSizeRel;ON" "MinSizeRel;OFF")
  list(GET build 0 type)
  list(GET build 1 onednn)
  set(exceptions ON)
  if(type STREQUAL "MinSizeRel")
    set(exceptions OFF)
  endif()
  set(folder ${WORK}/${type}-${onednn})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -D CMAKE_BUILD_TYPE=${type}
    -D CMAKE_C_COMPILER=${CC} -D CMAKE_CXX_COMPILER=${CXX} -D PLACETO_ONEDNN=${onednn}
    -D PLACETO_EXCEPTIONS=${exceptions} -D PLACETO_BUILD_TOOLS=OFF -D PLACETO_BUILD_TESTS=OFF
    -D PLACETO_BUILD_BENCHMARKS=OFF -D PLACETO_SIZE_EXAMPLE=ON -D OneDNN_ROOT=${ONEDNN_ROOT})
  run(${CMAKE_COMMAND} --build ${folder} --target placeto placeto_size_example)
  stripped_kib(${folder}/runtime/capi/libplaceto.so shared)
  stripped_kib(${folder}/bin/placeto_size_example example)
  run(${folder}/bin/placeto_size_example ${SOURCE}/models/default.plpo)
  foreach(key load_ms place_ms peak_kib makespan_us)
    string(JSON ${key} GET "${output}" ${key})
  endforeach()
  list(APPEND makespans ${makespan_us})
  math(EXPR tenths "${peak_kib} * 10 / 1024")
  math(EXPR whole "${tenths} / 10")
  math(EXPR tenth "${tenths} % 10")
  string(REGEX REPLACE "(\\.[0-9][0-9]).*" "\\1" load_ms "${load_ms}")
  string(REGEX REPLACE "(\\.[0-9]).*" "\\1" place_ms "${place_ms}")
  set(name "release")
  if(type STREQUAL "MinSizeRel")
    set(name "minsize")
  endif()
  if(onednn)
    string(APPEND name ", oneDNN")
  else()
    string(APPEND name ", portable kernels")
  endif()
  string(APPEND table
    "\n| ${name} | ${shared} | ${example} | ${whole}.${tenth} | ${load_ms} | ${place_ms} |")
endforeach()
message("${table}")
list(REMOVE_DUPLICATES makespans)
list(LENGTH makespans different)
if(NOT different EQUAL 1)
  message(FATAL_ERROR "the builds place differently: ${makespans}")
endif()
