#include "tools/costs/operator_class.h"

#include <iterator>

#include "tools/io/word_list.h"

namespace placeto {
namespace {

constexpr const char* kNames[kOperatorClassCount] = {
    "conv",     "thin",      "matrix",   "quantized", "recurrent", "elementwise",
    "function", "reduction", "movement", "view",      "control",   "other"};

struct OperatorsOf {
  OperatorClass operator_class;
  std::string_view operators;  // between spaces
};

// Operators of ONNX and of com.microsoft (docs/Operators.md and docs/ContribOperators.md there).
constexpr OperatorsOf kOperators[] = {
    {OperatorClass::kConvolution,
     " Conv ConvTranspose ConvTransposeWithDynamicPads FusedConv DeformConv NhwcConv "
     "NhwcFusedConv "},
    {OperatorClass::kMatrix,
     " Gemm MatMul Einsum FusedMatMul FusedMatMulActivation FusedGemm TransposeMatMul GemmFastGelu "
     "Attention MoE "
     "MultiHeadAttention GroupQueryAttention PagedAttention DecoderAttention "
     "DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention PackedAttention "
     "PackedMultiHeadAttention SparseAttention LongformerAttention "},
    {OperatorClass::kQuantized,
     " QLinearConv ConvInteger QLinearMatMul MatMulInteger QGemm QAttention DynamicQuantizeMatMul "
     "MatMulIntegerToFloat MatMulInteger16 MatMulNBits MatMulBnb4 MatMulFpQ4 GemmFloat8 QMoE "},
    {OperatorClass::kRecurrent, " LSTM GRU RNN DynamicQuantizeLSTM AttnLSTM "},
    {OperatorClass::kElementwise,
     " Add Sub Mul Div Max Min Sum Mean Neg Abs Sign Relu LeakyRelu PRelu ThresholdedRelu Clip "
     "Ceil "
     "Floor Round Mod And Or Xor Not Equal Less LessOrEqual Greater GreaterOrEqual Where Cast "
     "CastLike HardSigmoid HardSwish IsInf IsNaN BitShift BitwiseAnd BitwiseOr BitwiseXor "
     "BitwiseNot Reciprocal QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearAdd "
     "QLinearMul QLinearLeakyRelu Shrink Dropout BatchNormalization AffineGrid "},
    {OperatorClass::kFunction,
     " Exp Log Sqrt Pow Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid Erf "
     "Elu "
     "Selu Celu Softplus Softsign Mish Swish Gelu FastGelu QuickGelu BiasGelu BiasSplitGelu "
     "QLinearSigmoid RotaryEmbedding "},
    {OperatorClass::kReduction,
     " ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
     "ReduceLogSumExp ReduceSumSquare ArgMax ArgMin Softmax LogSoftmax Hardmax "
     "LayerNormalization InstanceNormalization GroupNormalization RMSNormalization "
     "SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization "
     "EmbedLayerNormalization MeanVarianceNormalization LpNormalization LRN QLinearSoftmax "
     "BiasSoftmax MaxPool AveragePool LpPool GlobalMaxPool GlobalAveragePool GlobalLpPool "
     "QLinearAveragePool QLinearGlobalAveragePool NhwcMaxPool CumSum TopK "
     "QLinearReduceMean Det "},
    {OperatorClass::kMovement,
     " Transpose Concat Split Slice Gather GatherElements GatherND GatherBlockQuantized Scatter "
     "ScatterElements ScatterND Pad Tile Expand Resize Upsample DepthToSpace SpaceToDepth "
     "ConstantOfShape EyeLike OneHot Range Compress NonZero Trilu ReverseSequence QLinearConcat "
     "ReorderInput ReorderOutput MemcpyFromHost MemcpyToHost MaxUnpool GridSample RoiAlign "
     "CenterCropPad Unique "
     "Col2Im TensorScatter ConcatFromSequence SplitToSequence SequenceAt "},
    {OperatorClass::kView, " Reshape Squeeze Unsqueeze Flatten Identity Shape Size Optional "},
    {OperatorClass::kControl, " If Loop Scan SequenceMap "},
};

}  // namespace

const char* name_of(OperatorClass operator_class) {
  return kNames[static_cast<size_t>(operator_class)];
}

std::optional<OperatorClass> operator_class_of_name(std::string_view name) {
  for (size_t i = 0; i < kOperatorClassCount; ++i) {
    if (name == kNames[i]) return static_cast<OperatorClass>(i);
  }
  return std::nullopt;
}

OperatorClass operator_class_of(std::string_view op) {
  for (const OperatorsOf& row : kOperators) {
    if (holds_word(row.operators, op)) return row.operator_class;
  }
  return OperatorClass::kOther;
}

}  // namespace placeto
