// base/call_kind.hpp - the kinds of calls, and what holds for every call of a kind
// (base/call_kinds.def has the rows).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/interposer_table.h"

namespace gradcoll {

enum class CallKind : std::uint8_t {
#define GC_KIND(CONSTANT, name, ...) name = GC_CALL_##CONSTANT,
#include "base/call_kinds.def"
#undef GC_KIND
};
inline constexpr int call_kind_count = GC_CALL_COMPLETE;

/// A CallTrait is what all ranks know of a call by its kind alone.
enum class CallTrait : std::uint16_t {
    waits = 1,           ///< the caller waits in the call
    sets_up = 2,         ///< it is a request that is set up once and started many times
    reduces = 4,         ///< it has an op
    in_blocks = 8,       ///< its vector has a block for each rank
    only_one_host = 16,  ///< nothing but the memory of one host serves it
    from_root = 32,      ///< one rank gives, and all others get
    to_root = 64,        ///< all ranks give, and one gets
    no_buffers = 128,    ///< it has nothing but its communicator
    all_meet = 256,      ///< no rank leaves it before all have come
    any_count = 512,     ///< it does something also where its count is 0
};
constexpr CallTrait operator|(CallTrait a, CallTrait b) {
    return static_cast<CallTrait>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// CallKindRow is one row of the table.
struct CallKindRow {
    std::string_view name;
    std::string_view function;  ///< of MPI; empty: there is none
    const char* offered_name;   ///< its name in claims and errors of unchanged programs
    CallTrait traits;
};
inline constexpr auto call_kind_rows = [] {
    using enum CallTrait;
    return std::array<CallKindRow, call_kind_count>{{
#define GC_KIND(CONSTANT, name, function, traits) \
    {#name, function, function " (served by gradcoll)", traits},
#include "base/call_kinds.def"
#undef GC_KIND
    }};
}();

constexpr const CallKindRow& row_of(CallKind kind) {
    return call_kind_rows[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(CallKind kind) {
    return row_of(kind).name;
}
/// Returns whether the kind has one of the traits.
constexpr bool has(CallKind kind, CallTrait traits) {
    return (static_cast<unsigned>(row_of(kind).traits) & static_cast<unsigned>(traits)) != 0;
}
/// Returns whether calls of the kind move data that are not reduced.
constexpr bool moves_data(CallKind kind) {
    return !has(kind, CallTrait::reduces | CallTrait::no_buffers);
}
/// Returns whether they gather blocks of all ranks.
constexpr bool gathers(CallKind kind) {
    return moves_data(kind) && has(kind, CallTrait::in_blocks);
}

}  // namespace gradcoll
