# Finds oneDNN. Sets OneDNN_FOUND, OneDNN_INCLUDE_DIR, OneDNN_LIBRARY and OneDNN_VERSION, and
# defines OneDNN::OneDNN.
#
# Not find_package(dnnl): the config file of some distributions looks for OpenCL and fails on a
# machine without its headers, although nothing here needs them.
find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(OneDNN_LIBRARY dnnl)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

if(OneDNN_INCLUDE_DIR AND EXISTS ${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
  file(STRINGS ${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h _lines
       REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "#define DNNL_VERSION_[A-Z]+ +" "" _parts "${_lines}")
  string(JOIN "." OneDNN_VERSION ${_parts})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR
  VERSION_VAR OneDNN_VERSION)

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES
    IMPORTED_LOCATION "${OneDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
