#include "comm/exact_reason.hpp"

#include <cstddef>
#include <iterator>

namespace gradcoll {
namespace {

// The texts are in the order of ExactReason.
constexpr const char* texts[] = {
    nullptr,
    "no lossy codec is set",
    "a setting that limits what sums may lose is ignored, so all are exact",
    "this kind of call is never compressed",
    "only MPI_SUM is ever compressed",
    "the codec is not defined for the datatype",
    "vector is shorter than gc_compress_bytes",
    "vector is longer than gc_compress_bytes",
    "GC_COMPRESS_COMMS leaves the communicator exact",
    "gc_compress_calls leaves the call exact",
    "no level of this tree has a lossy codec",
    "its codec would take longer than it saves (gc_compress_if=pays)",
    "gc_tolerance compresses reductions without a residual only",
    "gc_tolerance leaves too little for a codec to be worth it",
};
static_assert(std::size(texts) == static_cast<std::size_t>(ExactReason::count));

}  // namespace

const char* text_of(ExactReason reason) {
    return texts[static_cast<std::size_t>(reason)];
}

}  // namespace gradcoll
