# Runs tools/examples/serve_stages.c on the example model and looks at what it wrote.
#
#   cmake -D PROGRAM=serve_stages -D MODEL=example.onnx -D OUT=new folder -P example_stages.cmake
cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE ${OUT})
execute_process(COMMAND ${PROGRAM} ${MODEL} edge-cpu-gpu-npu ${OUT} batch=1
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "30 nodes in ([0-9]+) stages")
  message(FATAL_ERROR "${output}")
endif()
file(GLOB stages ${OUT}/stage_*.onnx)
list(LENGTH stages count)
if(NOT count EQUAL CMAKE_MATCH_1 OR NOT EXISTS ${OUT}/manifest.json)
  message(FATAL_ERROR "${output}wrote ${count} stages: ${stages}")
endif()
