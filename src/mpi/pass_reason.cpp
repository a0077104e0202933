#include "mpi/pass_reason.hpp"

#include <cstddef>
#include <iterator>

namespace gradcoll {
namespace {

// The texts are in the order of PassReason.
constexpr const char* reasons[] = {
    nullptr,
    "datatype is derived, or has no kernels here",
    "op is user-defined, or has no kernels here",
    "op is not defined for the datatype",
    "op is user-defined, and an element of datatype is too large for shared memory",
    "comm is an intercommunicator",
    "a single rank",
    "only ranks of one host that share memory are served this kind of call",
    "communicator is not attached",
    "nonblocking calls need MPI_THREAD_MULTIPLE",
    "persistent requests need MPI_THREAD_MULTIPLE",
    ("gc_reproducible=on: nonblocking calls cannot be served from the first one on, so none of "
     "them is"),
    "the program has memory of devices that only its MPI library reaches (GC_DEVICE)",
    "vector has no elements",
    "vector is shorter than gc_tree_min_bytes",
    "vector is longer than gc_compress_bytes, and exact ones shorter than gc_tree_min_bytes pass",
    ("GC_COMPRESS_COMMS leaves the communicator exact, and exact vectors shorter than "
     "gc_tree_min_bytes pass"),
    ("gc_compress_calls leaves the call exact, and exact vectors shorter than gc_tree_min_bytes "
     "pass"),
    ("the codec would take longer than it saves, and exact vectors shorter than "
     "gc_tree_min_bytes pass"),
    "the calls on the communicator have not yet paid for attaching it",
    "256 communicators are attached already, and this one would have been by use",
    "the MPI library does such a call of this length faster than shared memory",
    "the MPI library's way is tried beside ours, in turns (GC_TUNE=online)",
    "the MPI library was faster when both ways were tried",
    "MPI_Pcontrol has switched interception off",
    "GC_INTERCEPT leaves this kind of call out",
    "wrong arguments are for the MPI library to refuse",
    "a buffer is null or in the memory of a GPU",
    "one buffer for input and result",
    "blocks differ in size",
    "the communicator is not valid",
    "the communicator could not be attached",
    "ranks of the communicator lack the library, or have other settings",
};
static_assert(std::size(reasons) == static_cast<std::size_t>(PassReason::count));

}  // namespace

const char* text_of(PassReason reason) {
    return reasons[static_cast<std::size_t>(reason)];
}

}  // namespace gradcoll
