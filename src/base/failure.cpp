#include "base/failure.hpp"

#include <fmt/format.h>

#include <string_view>

namespace gradcoll {
namespace {

/// Returns why a rank cannot go on.
std::string_view reason_of(Code code) {
    switch (code) {
        case Code::invalid_argument:
        case Code::invalid_count:
        case Code::invalid_type:
        case Code::invalid_op:
        case Code::invalid_comm:
            return "its arguments are wrong, or not those of another rank";
        case Code::invalid_buffer:
            return "a buffer of its call is null or overlaps another";
        case Code::unsupported:
            return "it cannot do what is asked for";
        case Code::out_of_memory:
            return "it has not enough memory";
        case Code::io:
            return "a file could not be read or written";
        case Code::corrupt:
            return "bytes that it got are damaged, or of a call with another count, datatype or "
                   "operation";
        case Code::transport:
            return "the transport of its messages reported an error";
        case Code::peer_died:
            return "its process has ended";
        case Code::ok:
        case Code::peer_failed:
        case Code::internal:
            break;
    }
    return "it found an error";
}

}  // namespace

Status told(const Failure& failure) {
    if (failure.rank == Failure::nobody_known)
        return {Code::peer_failed, "a rank cannot go on; it is not known which"};
    return {failure.code == Code::peer_died ? Code::peer_died : Code::peer_failed,
            fmt::format("rank {} cannot go on: {}", failure.rank, reason_of(failure.code))};
}

}  // namespace gradcoll
