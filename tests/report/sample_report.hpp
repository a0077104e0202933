// tests/report/sample_report.hpp - reports with known figures.
#pragma once

#include <cstdint>
#include <string>

#include "report/rows.hpp"
#include "report/snapshot.hpp"

namespace gradcoll::test {

inline ReportSnapshot empty() {
    ReportSnapshot report;
    report.process.world_size = 4;
    report.process.host = "node7";
    report.process.process_id = 4711;
    report.process.mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
    report.process.version = "0.1.0";
    report.process.command = "./train --epochs 5";
    report.start_unix_ns = 1'700'000'000'000'000'000;
    report.seconds = 83.2;
    return report;
}

inline CallRecord tree_call(CallKind kind, std::uint64_t bytes, bool lossy) {
    CallRecord call;
    call.kind = kind;
    call.bytes = bytes;
    call.lossy = lossy;
    call.bytes_sent_exact = bytes * 3 / 2;
    call.bytes_sent = lossy ? call.bytes_sent_exact * 8 / 15 : call.bytes_sent_exact;
    call.messages_sent = 12;
    call.total_ns = bytes;
    call.codec_ns = lossy ? bytes / 10 : 0;
    call.wire_ns = bytes / 2;
    return call;
}

inline CallCell cell(const CallRecord& call, int times) {
    CallCell made;
    made.kind = call.kind;
    made.size_bin = size_bin_of(call.bytes);
    for (int i = 0; i < times; ++i) made.add(call);
    return made;
}

inline CommEntry world_with_calls() {
    CommEntry world;
    world.name = "MPI_COMM_WORLD";
    world.rank_count = 4;
    world.communicators = 1;
    world.trees.push_back({"((0 1) (2 3))", "hwloc and the hosts of the ranks", 1});
    CallRecord small;
    small.bytes = 8;
    small.pass_reason = "an exact call below GC_TREE_MIN_BYTES";
    world.calls.push_back(cell(small, 12345));
    CallRecord shared = tree_call(CallKind::allreduce, 300'000, false);
    shared.shared_memory = true;
    world.calls.push_back(cell(shared, 20));
    CallCell large = cell(tree_call(CallKind::allreduce, 64 << 20, true), 500);
    CallRecord user_op = small;
    user_op.bytes = 64 << 20;
    user_op.pass_reason = "a user-defined op";
    large.add(user_op);
    world.calls.push_back(large);
    world.calls.push_back(cell(tree_call(CallKind::persistent, 1 << 20, true), 7));
    ErrorCell error;
    error.size_bin = large.size_bin;
    error.add({0.0123, 0.21, 0});
    error.add({0.0045, 0.19, 0.01});
    world.errors.push_back(error);
    world.left_out = {{300'000, -1, "2:4", 120.5, 42.0}, {1 << 20, 1, "bf16", 1812.0, 1640.0}};
    world.left_out_not_listed = 3;
    world.trials = {{128 << 10, 611.0, 702.5, false}, {1 << 20, 4100.0, 3500.0, true}};
    return world;
}

/// Returns a report that has something of everything but engines and agents.
inline ReportSnapshot full_report() {
    ReportSnapshot report = empty();
    report.comms.push_back(world_with_calls());
    CommEntry rows;
    rows.name = "row";
    rows.rank_count = 2;
    rows.communicators = 3000;
    rows.trees.push_back({"(0 1)", "one host", 2996});
    rows.trees_not_listed = 4;
    rows.calls.push_back(cell(tree_call(CallKind::allgather, std::uint64_t{3} << 30, false), 3000));
    report.comms.push_back(rows);
    CommEntry nameless = rows;
    nameless.name = "";
    nameless.communicators = 1;
    nameless.trees.clear();
    nameless.trees_not_listed = 0;
    report.comms.push_back(nameless);
    CallSums sums = total_of(report).sums;
    for (int rank = 0; rank < 4; ++rank) {
        report.ranks.push_back({rank, "node" + std::to_string(7 + rank / 2), sums});
        sums.total_ns += sums.total_ns / 10;
        sums.wire_ns += sums.wire_ns / 5;
    }
    return report;
}

}  // namespace gradcoll::test
