# Writes the binary files that the examples are run with.
#
#   cmake -D PLACETO=program -D WRITE_POLICY=program -D TOPOLOGY=json -D OUT=folder
#         -P example_files.cmake
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${OUT})
foreach(workload inception_v3 resnet50 bert_base)
  run(${PLACETO} generate ${workload} -o ${OUT}/${workload})  # binary: no name in .json
endforeach()
run(${PLACETO} convert ${TOPOLOGY} ${OUT}/topology)
run(${WRITE_POLICY} ${OUT}/policy)
