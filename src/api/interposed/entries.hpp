// api/interposed/entries.hpp - the entries of the interposer's table (base/interposer_table.h), one
// for each kind of call.
#pragma once

#include "api/edge/request.hpp"
#include "base/interposer_table.h"

namespace gradcoll {

ReduceArguments arguments_of(const GC_Reduce_call& call);

int offer_allreduce(const GC_Reduce_call* call, int* code) noexcept;
int offer_iallreduce(const GC_Reduce_call* call, void* request, int* code) noexcept;
int offer_reduce_scatter_block(const GC_Reduce_call* call, int* code) noexcept;
int offer_reduce_scatter(const GC_Reduce_call* call, const void* recvcounts,
                         std::size_t count_bytes, int* code) noexcept;
int offer_allgather(const GC_Gather_call* call, int* code) noexcept;

}  // namespace gradcoll
