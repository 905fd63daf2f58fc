# Debian packages, made by `cpack` in the build folder. Configure with -DCMAKE_INSTALL_PREFIX=/usr
# (preset `package`), so that libraries go where Debian has them.
#
#   libplaceto<SOVERSION>  the shared library; its name follows the SONAME, as Debian's rules ask,
#                          so that two incompatible versions can be installed side by side
#   libplaceto-dev         headers, static library, CMake package, pkg-config file
#   libplaceto-onnx<SOVERSION>, libplaceto-onnx-dev  likewise: ONNX models, JSON files, engines
#   libplaceto-runner<SOVERSION>, libplaceto-runner-dev  likewise: stages run by ONNX Runtime
#   placeto                the command line
#   placeto-models         policies and topologies
#
# Included last, when every target is known.
include(GNUInstallDirs)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/placeto COMPONENT license)
set(placeto_components runtime development)
if(TARGET placeto_cli)
  install(TARGETS placeto_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  list(APPEND placeto_components tools onnx_runtime onnx_development runner_runtime
    runner_development)
endif()
find_program(GZIP gzip)
if(TARGET placeto_cli AND GZIP AND NOT CMAKE_CROSSCOMPILING)  # the program says what to write
  set(manpage ${PROJECT_BINARY_DIR}/placeto.1)
  add_custom_command(OUTPUT ${manpage}.gz
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:placeto_cli> -D NAME=placeto
      -D VERSION=${PROJECT_VERSION} -D OUT=${manpage} -D GZIP=${GZIP}
      -P ${PROJECT_SOURCE_DIR}/cmake/manpage.cmake
    DEPENDS placeto_cli ${PROJECT_SOURCE_DIR}/cmake/manpage.cmake
    COMMENT "Writing the manual page"
    VERBATIM)
  add_custom_target(placeto_manpage ALL DEPENDS ${manpage}.gz)
  install(FILES ${manpage}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
if(TARGET placeto_cli AND NOT CMAKE_CROSSCOMPILING)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  add_custom_command(OUTPUT ${completions}/placeto ${completions}/_placeto ${completions}/placeto.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
    COMMAND placeto_cli completion bash > ${completions}/placeto
    COMMAND placeto_cli completion zsh > ${completions}/_placeto
    COMMAND placeto_cli completion fish > ${completions}/placeto.fish
    DEPENDS placeto_cli
    COMMENT "Writing completions for shells"
    VERBATIM)
  add_custom_target(placeto_completions ALL DEPENDS ${completions}/placeto)
  install(FILES ${completions}/placeto COMPONENT tools
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/_placeto COMPONENT tools
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${completions}/placeto.fish COMPONENT tools
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/placeto
  COMPONENT models
  FILES_MATCHING PATTERN "*.plpo" PATTERN "*.json" PATTERN "*.md" PATTERN "*.svg")
list(APPEND placeto_components models)

get_target_property(soversion placeto SOVERSION)
set(package_of_runtime libplaceto${soversion})
set(package_of_development libplaceto-dev)
set(package_of_onnx_runtime libplaceto-onnx${soversion})
set(package_of_onnx_development libplaceto-onnx-dev)
set(package_of_runner_runtime libplaceto-runner${soversion})
set(package_of_runner_development libplaceto-runner-dev)
set(package_of_tools placeto)
set(package_of_models placeto-models)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME placeto)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
# Who makes packages answers for them; as for Debian's own tools, these variables say who that is.
# Without them there is no address: dpkg takes a name alone, only Debian's archive wants one too. No
# Homepage: there is none.
set(contact "The Placeto authors")
if(DEFINED ENV{DEBEMAIL})
  set(contact "The Placeto authors <$ENV{DEBEMAIL}>")
  if(DEFINED ENV{DEBFULLNAME})
    set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
  endif()
endif()
set(PLACETO_PACKAGE_CONTACT "${contact}" CACHE STRING
  "Maintainer of the packages that cpack makes: Name <address>, or a name")
set(CPACK_PACKAGE_CONTACT "${PLACETO_PACKAGE_CONTACT}")
set(CPACK_COMPONENTS_ALL ${placeto_components})
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_ONNX_RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_RUNNER_RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/runtime/capi)
endif()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Device placement for neural networks: library
 Places the operators of a computation graph on the devices of a host, by
 heuristics and trained policies against a built-in cost model.")
# Who links the library needs it at this version or later, and ldconfig has to hear of it.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/packaging/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Device placement for neural networks: development files
 Headers for C and C++, the static library, and files for CMake and pkg-config.")
if(PLACETO_ONEDNN)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libdnnl-dev)
endif()

set(CPACK_DEBIAN_ONNX_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ONNX_RUNTIME_PACKAGE_DEPENDS "${package_of_runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_ONNX_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/packaging/debian/triggers)
set(CPACK_DEBIAN_ONNX_RUNTIME_DESCRIPTION "Device placement for neural networks: ONNX models
 Reads ONNX models, JSON files and descriptions of engines for libplaceto, and
 writes the stages of placed models.")
set(CPACK_DEBIAN_ONNX_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_ONNX_DEVELOPMENT_PACKAGE_DEPENDS
  "${package_of_onnx_runtime} (= ${PROJECT_VERSION}), ${package_of_development} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_ONNX_DEVELOPMENT_DESCRIPTION
  "Device placement for neural networks: ONNX models, development files
 Header for C, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_RUNNER_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNNER_RUNTIME_PACKAGE_SUGGESTS libonnxruntime1.21)  # loaded when it is needed
set(CPACK_DEBIAN_RUNNER_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/packaging/debian/triggers)
set(CPACK_DEBIAN_RUNNER_RUNTIME_DESCRIPTION "Device placement for neural networks: runner
 Runs the stages of placed models with ONNX Runtime, a thread per device.")
set(CPACK_DEBIAN_RUNNER_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RUNNER_DEVELOPMENT_PACKAGE_DEPENDS
  "${package_of_runner_runtime} (= ${PROJECT_VERSION}), ${package_of_development} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNNER_DEVELOPMENT_DESCRIPTION
  "Device placement for neural networks: runner, development files
 Header for C, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS ${package_of_models})
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "Device placement for neural networks: command line
 Places, simulates, compares and converts computation graphs.")

set(CPACK_DEBIAN_MODELS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MODELS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MODELS_DESCRIPTION "Device placement for neural networks: policies and topologies
 Trained policies with their cards, and descriptions of machines.")

# Every package says what may be done with it, and has the changelog that Debian's tools look for.
set(changelog ${PROJECT_BINARY_DIR}/changelog)
set(signed_by "${PLACETO_PACKAGE_CONTACT}")
if(NOT signed_by MATCHES "<.*>$")
  string(APPEND signed_by " <>")  # dpkg-parsechangelog reads no line without
endif()
file(WRITE ${changelog} "placeto (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
  "  * Version ${PROJECT_VERSION}.\n\n"
  " -- ${signed_by}  Thu, 01 Jan 2026 00:00:00 +0000\n")
if(GZIP)
  execute_process(COMMAND ${GZIP} -9nkf ${changelog})
endif()
foreach(component ${placeto_components})
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}})
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/packaging/debian/copyright DESTINATION ${doc}
    COMPONENT ${component})
  if(GZIP)
    install(FILES ${changelog}.gz DESTINATION ${doc} COMPONENT ${component})
  endif()
endforeach()
include(CPack)
