# placeto_flags(<target>): language level, warnings and the floating-point promise.
#
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, so with
# contraction the same source would give different makespans on different machines.
option(PLACETO_WERROR "Treat warnings as errors" OFF)
set(PLACETO_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. 'address,undefined' or 'thread'")

function(placeto_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # false positives on std::string (GCC PR 105329)
    # Where files are compiled together, each looks like a header to this warning.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
    -ffp-contract=off
    -ffunction-sections -fdata-sections
    $<$<BOOL:${PLACETO_WERROR}>:-Werror>)
  # Addresses are resolved at the start and read-only from then on; no stack holds code.
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-z,relro,-z,now,-z,noexecstack)
  if(PLACETO_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${PLACETO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${PLACETO_SANITIZE})
  endif()
endfunction()

# placeto_guarded(<target>): what an overrun would overwrite is checked before it is used, and jumps
# lead only to where functions begin. Not in the smallest build, whose bytes are counted; and a
# sanitizer sees more.
function(placeto_guarded target)
  if(PLACETO_SANITIZE)
    return()
  endif()
  set(flags -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    list(APPEND flags -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    list(APPEND flags -mbranch-protection=standard)
  endif()
  set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_compile_options(${target} PRIVATE
    "$<$<NOT:$<CONFIG:MinSizeRel>>:${flags}>"
    "$<$<NOT:$<OR:$<CONFIG:Debug>,$<CONFIG:MinSizeRel>>>:${fortify}>")
endfunction()
