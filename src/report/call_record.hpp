// report/call_record.hpp - one call, as the report is told of it.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace gradcoll {

enum class CallKind : std::uint8_t {
    allreduce,
    iallreduce,
    persistent,  ///< one start of a persistent allreduce
    allreduce_init,
    reduce_scatter_block,
    reduce_scatter,
    allgather
};
inline constexpr int call_kind_count = static_cast<int>(CallKind::allgather) + 1;

constexpr std::string_view name_of(CallKind kind) {
    constexpr std::string_view names[] = {
        "allreduce",      "iallreduce", "persistent", "allreduce_init", "reduce_scatter_block",
        "reduce_scatter", "allgather"};
    static_assert(std::size(names) == call_kind_count);
    return names[static_cast<int>(kind)];
}

/// One call as this rank saw it.
struct CallRecord {
    CallKind kind = CallKind::allreduce;
    std::uint64_t bytes = 0;             ///< of the whole vector, uncompressed
    const char* pass_reason = nullptr;   ///< static text: why MPI served it; null: the tree did
    bool lossy = false;                  ///< some hop was compressed
    std::uint64_t bytes_sent = 0;        ///< on the wire by this rank
    std::uint64_t bytes_sent_exact = 0;  ///< what it would have sent with the exact codec
    std::uint64_t messages_sent = 0;
    std::uint64_t total_ns = 0;  ///< from call to return (blocking calls on the tree)
    std::uint64_t codec_ns = 0;  ///< in encode and decode
    std::uint64_t wire_ns = 0;   ///< waiting for messages
};

}  // namespace gradcoll
