# Makes the Python package with pip, without network, installs it into a folder, and runs its tests.
#
#   cmake -D PYTHON=interpreter -D SOURCE=checkout -D LIBRARY=libplaceto.so -D WORK=scratch folder
#         [-D ONNX_LIBRARY=libplaceto-onnx.so -D MODEL=example.onnx] -P python_package.cmake
cmake_minimum_required(VERSION 3.22)

# The system's interpreter may have what another one that comes first in PATH lacks.
find_program(system_python NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
execute_process(COMMAND ${PYTHON} -c "import setuptools, pip, wheel" RESULT_VARIABLE result
  ERROR_QUIET)
if(NOT result EQUAL 0 AND system_python)
  set(PYTHON ${system_python})
  execute_process(COMMAND ${PYTHON} -c "import setuptools, pip, wheel" RESULT_VARIABLE result
    ERROR_QUIET)
endif()
if(NOT result EQUAL 0)
  message("SKIPPED: no Python with pip, setuptools and wheel here")
  return()
endif()

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/tools/python DESTINATION ${WORK})  # pip leaves files beside what it builds
file(REMOVE ${WORK}/python/placeto/_native.py ${WORK}/python/placeto/libplaceto.so)
set(ENV{PLACETO_HEADER} ${SOURCE}/runtime/include/placeto/placeto.h)
set(ENV{PLACETO_ONNX_HEADER} ${SOURCE}/tools/capi/include/placeto/placeto_onnx.h)
set(ENV{PLACETO_LIBRARY} ${LIBRARY})
set(ENV{PLACETO_ONNX_LIBRARY} ${ONNX_LIBRARY})
set(ENV{PLACETO_TEST_MODEL} ${MODEL})
execute_process(COMMAND ${PYTHON} -m pip install --quiet --no-index --no-build-isolation --no-deps
  --disable-pip-version-check --root-user-action=ignore --target ${WORK}/installed ${WORK}/python
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PYTHON} -m pip wheel --quiet --no-index --no-build-isolation --no-deps
  --disable-pip-version-check --wheel-dir ${WORK}/wheel ${WORK}/python COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE}/runtime/include/placeto/placeto.h header)
string(REGEX MATCH "VERSION_MAJOR ([0-9]+)\n#define PLACETO_VERSION_MINOR ([0-9]+)\n#define PLACETO_VERSION_PATCH ([0-9]+)\n"
  found "${header}")
set(version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
file(GLOB wheel ${WORK}/wheel/placeto-*.whl)
if(NOT wheel MATCHES "/placeto-${version}-py3-none-linux_[^-]+\\.whl$")
  message(FATAL_ERROR "expected one wheel of version ${version} for Linux on this processor, not '${wheel}'")
endif()

# Without a library there is nothing to install: that is said before, and not by the first import.
file(COPY ${SOURCE}/tools/python DESTINATION ${WORK}/empty/tools)
file(REMOVE_RECURSE ${WORK}/empty/tools/python/build)
set(ENV{PLACETO_LIBRARY} ${WORK}/no/such/libplaceto.so)
execute_process(COMMAND ${PYTHON} -m pip wheel --no-index --no-build-isolation --no-deps
  --disable-pip-version-check --wheel-dir ${WORK}/none ${WORK}/empty/tools/python
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "PLACETO_LIBRARY names .*/no/such/libplaceto.so, which does not exist")
  message(FATAL_ERROR "a package without a library was made, or no reason given: ${output}")
endif()
unset(ENV{PLACETO_LIBRARY})  # those in the package have to do
unset(ENV{PLACETO_ONNX_LIBRARY})
set(ENV{PYTHONPATH} ${WORK}/installed)
file(COPY ${WORK}/python/test_placeto.py DESTINATION ${WORK}/tests)  # away from the sources
execute_process(COMMAND ${PYTHON} ${WORK}/tests/test_placeto.py COMMAND_ERROR_IS_FATAL ANY)

# A field of another type or a declaration of another form is an error when the package is made.
string(REPLACE "uint64_t seed;" "uint64_t seed : 3;" header "${header}")
file(WRITE ${WORK}/changed.h "${header}")
execute_process(COMMAND ${PYTHON} ${WORK}/python/generate.py ${WORK}/changed.h ${WORK}/changed.py
  RESULT_VARIABLE result ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "generate.py: ")
  message(FATAL_ERROR "a bit field was taken for something else: ${error}")
endif()
