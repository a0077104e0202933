#include "api/interposed_persistent.hpp"

#include "api/handle_bits.hpp"
#include "api/interposed_offer.hpp"

namespace gradcoll {

int offer_allreduce_init(const GC_Reduce_call* call, GC_Handle, void*, int* code) noexcept {
    const OfferedCall offered{GC_CALL_ALLREDUCE_INIT, handle_of<MPI_Comm>(call->comm),
                              "MPI_Allreduce_init (served by gradcoll)"};
    return at_offer(offered, code,
                    [] { return Offer::left("persistent requests are the MPI library's"); });
}

/// None of them is ours.
void requests_started(int, const void*) noexcept {}
void request_freeing(const void*) noexcept {}

}  // namespace gradcoll
