#include "api/calls/engine_work.hpp"

#include "api/calls/device_allreduce.hpp"

namespace gradcoll {

Status PlannedWork::start() {
    before_ = executor_->stats();
    Binding binding = binding_of(arguments_, shape_);
    binding.numbers = &context_.plans().numbers();
    if (residual_ != nullptr) GRADCOLL_TRY(take(binding.residual, residual_->data_for({})));
    return executor_->start(binding);
}

Result<Progress> PlannedWork::advance() {
    auto progress = executor_->advance_messages();
    if (progress.ok() && *progress == Progress::complete)
        count_tree_call(context_.statistics(),
                        {CallKind::submitted, false, *call_, before_, executor_->stats(), 0});
    return progress;
}

Status HostWork::start() {
    operation_ = context_.one_host().begin_allreduce(binding_of(arguments_, shape_), shape_,
                                                     CallKind::submitted);
    return {};
}

Result<Progress> HostWork::advance() {
    return context_.one_host().advance(operation_);
}

Status PassedWork::start() {
    context_.statistics().count_passed(
        CallKind::submitted, plain_bytes(arguments_.count, arguments_.datatype), way.pass_reason);
    CallArguments ours = arguments_;
    ours.comm = context_.identity().private_comm();
    return pass_iallreduce(ours, &request_).as_status("MPI_Iallreduce");
}

Result<Progress> PassedWork::advance() {
    int done = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    return done != 0 ? Progress::complete : Progress::idle;
}

Status AloneWork::start() {
    return reduce_alone(context_, CallKind::submitted, arguments_, shape_, {});
}

}  // namespace gradcoll
