# Makes the Debian packages of a build, looks into them, and installs, uses and removes them in a
# root folder of their own.
#
#   cmake -D BUILD=build folder -D WORK=scratch folder -D VERSION=of the project
#         -D SOVERSION=of the library -D CC=compiler -D CONSUMER=consumer.c -D CPACK=cpack
#         -D ONEDNN=whether the build uses it -P packages.cmake
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

foreach(program dpkg dpkg-deb dpkg-shlibdeps file)
  find_program(${program}_program ${program})
  if(NOT ${program}_program)
    message("SKIPPED: no ${program} here")
    return()
  endif()
endforeach()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -G DEB -B ${WORK})
file(GLOB packages ${WORK}/*.deb)

# The package of that name, and what it says about itself.
function(find_package_file name)
  foreach(file ${packages})
    if(file MATCHES "/${name}_${VERSION}_[a-z0-9]+\\.deb$")
      set(package ${file} PARENT_SCOPE)
      run(dpkg-deb -f ${file})
      set(fields "${output}" PARENT_SCOPE)
      run(dpkg-deb -c ${file})
      set(files "${output}\n" PARENT_SCOPE)  # a line each
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "no package ${name} of version ${VERSION} among: ${packages}")
endfunction()

function(expect text)
  foreach(pattern ${ARGN})
    if(NOT text MATCHES "${pattern}")
      message(FATAL_ERROR "expected '${pattern}' in:\n${text}")
    endif()
  endforeach()
endfunction()

find_package_file(libplaceto${SOVERSION})
expect("${fields}" "Depends: [^\n]*libc6" "Depends: [^\n]*libstdc\\+\\+6" "Section: libs")
expect("${files}" "libplaceto\\.so\\.${VERSION}\n" "libplaceto\\.so\\.${SOVERSION} -> " "/copyright"
  "/changelog\\.gz")
if(files MATCHES "\\.h\n|\\.a\n|libplaceto\\.so -> ")
  message(FATAL_ERROR "files for development in the library's package:\n${files}")
endif()
if(ONEDNN)
  expect("${fields}" "Depends: [^\n]*libdnnl")
endif()
find_package_file(libplaceto-dev)
expect("${fields}" "Depends: libplaceto${SOVERSION} \\(= ${VERSION}\\)")
expect("${files}" "placeto\\.h\n" "placeto\\.hpp\n" "libplaceto\\.a\n" "placeto\\.pc\n"
  "placetoConfig\\.cmake\n" "libplaceto\\.so -> ")
find_package_file(libplaceto-runner${SOVERSION})
expect("${fields}" "Depends: [^\n]*libstdc\\+\\+6" "Suggests: libonnxruntime" "Section: libs")
expect("${files}" "libplaceto-runner\\.so\\.${VERSION}\n" "libplaceto-runner\\.so\\.${SOVERSION} -> ")
if(fields MATCHES "libplaceto${SOVERSION}|libdnnl|libprotobuf|libonnx[^r]")
  message(FATAL_ERROR "the runner's library needs none of the others':\n${fields}")
endif()
find_package_file(libplaceto-runner-dev)
expect("${fields}" "Depends: libplaceto-runner${SOVERSION} \\(= ${VERSION}\\), libplaceto-dev")
expect("${files}" "placeto_runner\\.h\n" "placeto-runner\\.pc\n" "placeto_runnerTargets\\.cmake\n"
  "libplaceto-runner\\.so -> ")
find_package_file(placeto)
expect("${fields}" "Depends: [^\n]*libstdc\\+\\+6" "Recommends: placeto-models")
expect("${files}" "/bin/placeto\n" "/man/man1/placeto\\.1\\.gz\n"
  "/bash-completion/completions/placeto\n" "/zsh/vendor-completions/_placeto\n"
  "/fish/vendor_completions\\.d/placeto\\.fish\n")
find_package_file(placeto-models)
expect("${fields}" "Architecture: all")
expect("${files}" "/placeto/default\\.plpo\n" "/placeto/topologies/2xk80\\.json\n")

find_program(LINTIAN lintian)
if(LINTIAN)  # who makes packages without DEBEMAIL gives no address
  execute_process(COMMAND ${LINTIAN} --allow-root --fail-on error
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,malformed-contact
    ${packages} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  message(STATUS "lintian:\n${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "lintian found errors\n${error}")
  endif()
endif()

execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT user EQUAL 0)
  message("SKIPPED: packages were made and looked into, not installed: that takes root")
  return()
endif()
set(root ${WORK}/root)
file(MAKE_DIRECTORY ${root}/var/lib/dpkg/info ${root}/var/lib/dpkg/updates
  ${root}/var/lib/dpkg/triggers)
file(TOUCH ${root}/var/lib/dpkg/status ${root}/var/lib/dpkg/available)
# The folder has no C library of its own, so dependencies cannot be met inside; they are met outside.
set(dpkg dpkg --root=${root} --force-depends --force-script-chrootless --log=/dev/null)
run(${dpkg} -i ${packages})
file(GLOB_RECURSE header ${root}/usr/include/placeto/placeto.h)
file(GLOB_RECURSE library ${root}/usr/lib/libplaceto.so)
if(NOT header OR NOT library)
  message(FATAL_ERROR "installed: header '${header}', library '${library}'")
endif()
get_filename_component(lib_dir ${library} DIRECTORY)
run(${CC} -std=c99 ${CONSUMER} -I${root}/usr/include -L${lib_dir} -lplaceto -o ${WORK}/consumer)
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${lib_dir} ${WORK}/consumer)
run(${root}/usr/bin/placeto --version)
run(${root}/usr/bin/placeto inspect ${root}/usr/share/placeto/default.plpo)
list(TRANSFORM packages REPLACE ".*/([^_/]+)_[^/]*" "\\1" OUTPUT_VARIABLE names)
run(${dpkg} --purge ${names})
file(GLOB_RECURSE left ${root}/usr/*)
if(left)
  message(FATAL_ERROR "left behind: ${left}")
endif()
message(STATUS "installed, used and removed")
