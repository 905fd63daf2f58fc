// One function per named network. Options arrive checked, every default filled in; a combination
// that makes no network fails with kInvalidArgument.
#pragma once

#include "tools/workloads/workload.h"

namespace placeto {

Result<GraphSpec> build_inception_v3(const WorkloadOptions& options);
Result<GraphSpec> build_nasnet_a_large(const WorkloadOptions& options);
Result<GraphSpec> build_resnet50(const WorkloadOptions& options);
Result<GraphSpec> build_nmt(const WorkloadOptions& options);
Result<GraphSpec> build_bert_base(const WorkloadOptions& options);
Result<GraphSpec> build_bert_large(const WorkloadOptions& options);
Result<GraphSpec> build_gpt2(const WorkloadOptions& options);
Result<GraphSpec> build_mixture_of_experts(const WorkloadOptions& options);
Result<GraphSpec> build_enas_cifar10(const WorkloadOptions& options);
Result<GraphSpec> build_enas_ptb(const WorkloadOptions& options);

}  // namespace placeto
