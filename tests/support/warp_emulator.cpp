// tests/support/warp_emulator.cpp - 32 fibers that take turns: whoever has to wait gives the thread
// to the next lane.
#include "support/warp_emulator.hpp"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <memory>

namespace gradcoll::test {
namespace {

constexpr unsigned lanes = warp_lanes;
constexpr std::size_t stack_bytes = 64 * 1024;

struct Lane {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack{new std::byte[stack_bytes]};
    std::size_t meetings = 0;  ///< how many it came to
    bool ended = false;
};

/// A fast lane may bring something to the next meeting before a slow one has read this one's.
struct Table {
    Meeting kind{};
    unsigned arrived = 0;
    std::array<std::uint64_t, lanes> brought{};
};

struct Emulator {
    std::array<Lane, lanes> lane;
    std::array<Table, 2> table;
    ucontext_t caller{};
    const std::function<void()>* code = nullptr;
    unsigned current = 0;
    unsigned ended = 0;
    std::size_t most_meetings = 0;  ///< largest number of meetings of any lane so far
    std::size_t all_meetings = 0;   ///< number of meetings of the lanes that ended
    std::string error;
    bool ready = false;  ///< the fibers wait to go round

    Lane& own() { return lane[current]; }

    void switch_to(unsigned next) {
        Lane& from = own();
        current = next;
        swapcontext(&from.context, &lane[next].context);
    }
    void give_way() {
        unsigned next = (current + 1) % lanes;
        while (lane[next].ended) next = (next + 1) % lanes;
        if (next != current) switch_to(next);
    }
    /// Goes back to the caller for good; the lanes are not resumed.
    void fail(const std::string& what) {
        ready = false;
        error = "lane " + std::to_string(current) + " " + what;
        swapcontext(&own().context, &caller);
    }
    void end_lane() {
        if (most_meetings > own().meetings) fail("ended while others wait at a shuffle or ballot");
        all_meetings = own().meetings;
        own().ended = true;
        if (++ended == lanes)
            swapcontext(&own().context, &caller);
        else
            give_way();
    }
};

thread_local Emulator emulator;

/// A lane goes round once for every warp that is run: its fiber is made once.
[[noreturn]] void run_lane() {
    for (;;) {
        (*emulator.code)();
        emulator.end_lane();
    }
}

void make_fiber(Lane& lane) {
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = stack_bytes;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, run_lane, 0);
}

}  // namespace

std::string run_warp(const std::function<void()>& lane_code) {
    Emulator& e = emulator;
    for (Lane& lane : e.lane) {
        if (!e.ready) make_fiber(lane);
        lane.meetings = 0;
        lane.ended = false;
    }
    e.ready = true;
    e.table = {};
    e.code = &lane_code;
    e.current = e.ended = 0;
    e.most_meetings = e.all_meetings = 0;
    e.error.clear();
    swapcontext(&e.caller, &e.lane[0].context);
    return e.error;
}

unsigned EmulatedWarp::lane() {
    return emulator.current;
}

std::uint32_t EmulatedWarp::ballot(bool flag) {
    const std::uint64_t* flags = meet(Meeting::ballot, flag ? 1 : 0);
    std::uint32_t word = 0;
    for (unsigned i = 0; i < lanes; ++i) word |= static_cast<std::uint32_t>(flags[i]) << i;
    return word;
}

const std::uint64_t* EmulatedWarp::meet(Meeting kind, std::uint64_t mine) {
    Emulator& e = emulator;
    if (e.ended > 0 && e.own().meetings >= e.all_meetings)
        e.fail("waits at a shuffle or ballot for lanes that ended");
    Table& table = e.table[e.own().meetings++ % 2];
    e.most_meetings = std::max(e.most_meetings, e.own().meetings);
    if (table.arrived == lanes) table.arrived = 0;  // of the meeting before the last one
    if (table.arrived == 0) table.kind = kind;
    if (table.kind != kind) e.fail("came to another kind of meeting than the lanes before it");
    table.brought[e.current] = mine;
    if (++table.arrived < lanes) e.give_way();
    return table.brought.data();
}

void EmulatedWarp::expect_aligned(const void* at, std::size_t alignment) {
    if (reinterpret_cast<std::uintptr_t>(at) % alignment != 0)
        emulator.fail("reads or writes memory that is not aligned to " + std::to_string(alignment) +
                      " bytes");
}

}  // namespace gradcoll::test
