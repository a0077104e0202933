#include "ways/call_cache.hpp"

#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

bool is_marked_for(const CallShape& shape, MPI_Datatype datatype) {
    const MarkedType* const mark = mark_of(datatype);
    return mark != nullptr && mark->element_bytes == shape.elem_bytes &&
           mark->is_in_order != shape.is_packed;
}

bool fits(const CachedCall& way, const CallArguments& arguments, std::uint64_t size_bytes) {
    return way.datatype == arguments.datatype && way.op == arguments.op &&
           size_bytes >= way.least_bytes && size_bytes < way.end_bytes &&
           (way.shape.is_lasting || is_marked_for(way.shape, arguments.datatype));
}

}  // namespace

CachedCall* CallCache::find(const CallArguments& arguments) {
    if (arguments.count <= 0 || arguments.count > most_count) return nullptr;
    for (CachedCall& way : ways_) {
        const std::uint64_t size_bytes =
            static_cast<std::uint64_t>(arguments.count) * way.shape.item_bytes();
        if (fits(way, arguments, size_bytes))
            return are_plain_and_apart(arguments, size_bytes) ? &way : nullptr;
    }
    return nullptr;
}

}  // namespace gradcoll
