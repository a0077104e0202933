#include "api/comm/known_way.hpp"

#include "api/comm/plain_call.hpp"

namespace gradcoll {
namespace {

bool fits(const KnownWay& way, const CallArguments& arguments, std::uint64_t size_bytes) {
    return way.datatype == arguments.datatype && way.op == arguments.op &&
           size_bytes >= way.least_bytes && size_bytes < way.end_bytes;
}

}  // namespace

const KnownWay* KnownWays::find(const CallArguments& arguments) const {
    if (arguments.count <= 0 || arguments.count > most_count) return nullptr;
    for (const KnownWay& way : ways_) {
        const std::uint64_t size_bytes =
            static_cast<std::uint64_t>(arguments.count) * way.shape.elem_bytes;
        if (fits(way, arguments, size_bytes))
            return are_plain_and_apart(arguments, size_bytes) ? &way : nullptr;
    }
    return nullptr;
}

}  // namespace gradcoll
