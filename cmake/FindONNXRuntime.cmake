# Finds ONNX Runtime: headers and library. Sets ONNXRuntime_FOUND, ONNXRUNTIME_INCLUDE_DIR,
# ONNXRUNTIME_LIBRARY and ONNXRUNTIME_HEADER_API.
#
# ONNXRUNTIME_ROOT names a folder with include/ and lib/, for what no package installs:
# tools/engine/fetch.sh makes one. The interface only grows, so a library newer than the headers
# does; an older one is refused at run time, by the engine itself.
set(ONNXRUNTIME_ROOT "" CACHE PATH "Folder with include/ and lib/ of ONNX Runtime")
find_path(ONNXRUNTIME_INCLUDE_DIR onnxruntime_cxx_api.h
  HINTS ${ONNXRUNTIME_ROOT} PATH_SUFFIXES include include/onnxruntime
        include/onnxruntime/core/session onnxruntime)
find_library(ONNXRUNTIME_LIBRARY NAMES onnxruntime libonnxruntime.so.1
  HINTS ${ONNXRUNTIME_ROOT} PATH_SUFFIXES lib lib64)
mark_as_advanced(ONNXRUNTIME_INCLUDE_DIR ONNXRUNTIME_LIBRARY)

if(ONNXRUNTIME_INCLUDE_DIR AND EXISTS ${ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h)
  file(STRINGS ${ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h ONNXRUNTIME_HEADER_API
       REGEX "#define ORT_API_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+" ONNXRUNTIME_HEADER_API "${ONNXRUNTIME_HEADER_API}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ONNXRuntime
  REQUIRED_VARS ONNXRUNTIME_LIBRARY ONNXRUNTIME_INCLUDE_DIR)
