# What `cmake --install` puts where: headers, libraries, the CMake package and the pkg-config file.
# Component `runtime` is what programs need to run, `development` what they are built with.
# Everything is relocatable: no file names the prefix.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/placeto)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/placeto
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# Two exports: who links the shared library needs nothing else, and must not be asked for oneDNN.
install(TARGETS placeto EXPORT placetoSharedTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  NAMELINK_COMPONENT development)
install(TARGETS placeto_static EXPORT placetoStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(form Shared Static)
  install(EXPORT placeto${form}Targets NAMESPACE placeto::
    DESTINATION ${package_dir} COMPONENT development)
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/placetoConfig.cmake.in
  ${PROJECT_BINARY_DIR}/placetoConfig.cmake
  INSTALL_DESTINATION ${package_dir})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/placetoConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES
  ${PROJECT_BINARY_DIR}/placetoConfig.cmake
  ${PROJECT_BINARY_DIR}/placetoConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# What the static library needs from the linker's point of view.
set(PLACETO_PC_PRIVATE "-lstdc++ -lm")
if(PLACETO_ONEDNN)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindOneDNN.cmake
    DESTINATION ${package_dir} COMPONENT development)
  get_filename_component(onednn_dir ${OneDNN_LIBRARY} DIRECTORY)
  string(PREPEND PLACETO_PC_PRIVATE "-ldnnl ")
  if(NOT onednn_dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    string(PREPEND PLACETO_PC_PRIVATE "-L${onednn_dir} ")
  endif()
endif()
file(RELATIVE_PATH PLACETO_PC_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" PLACETO_PC_TO_PREFIX "${PLACETO_PC_TO_PREFIX}")
set(PLACETO_PC_TO_PREFIX "${PLACETO_PC_TO_PREFIX}" CACHE INTERNAL "From pkg-config files to the prefix")
configure_file(${PROJECT_SOURCE_DIR}/cmake/placeto.pc.in ${PROJECT_BINARY_DIR}/placeto.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/placeto.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
