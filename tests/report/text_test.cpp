// The report for people, against tests/golden/report; GRADCOLL_BLESS=1 writes the files anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/size_bin.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(GRADCOLL_TESTS_DIR) + "/golden/report/" + name;
    if (std::getenv("GRADCOLL_BLESS") != nullptr) std::ofstream(path) << text;
    std::ostringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
}

ReportSnapshot empty() {
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

CallRecord tree_call(CallKind kind, std::uint64_t bytes, bool lossy) {
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

CallCell cell(const CallRecord& call, int times) {
    CallCell made;
    made.kind = call.kind;
    made.size_bin = size_bin_of(call.bytes);
    for (int i = 0; i < times; ++i) made.add(call);
    return made;
}

CommEntry world_with_calls() {
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
    return world;
}

TEST(ReportText, NamesWhoBuiltPlansIfThatWasNotFlexreduce) {
    ReportSnapshot report = empty();
    report.comms.emplace_back();
    CallRecord call = tree_call(CallKind::allreduce, 1 << 20, false);
    report.comms.back().calls.push_back(cell(call, 3));
    EXPECT_EQ(report_text(report).find("built"), std::string::npos);
    call.builder = "star";
    report.comms.back().calls.push_back(cell(call, 2));
    call.kind = CallKind::persistent;
    report.comms.back().calls.push_back(cell(call, 7));
    const std::string text = report_text(report);
    EXPECT_NE(text.find("    built         2: by star\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    built         7: by star\n"), std::string::npos) << text;
}

TEST(ReportText, WhatGoesThroughTheMemoryOfAHostIsNoMessage) {
    ReportSnapshot report = empty();
    report.comms.emplace_back();
    CallRecord call = tree_call(CallKind::allreduce, 1 << 20, false);
    call.shared_memory = true;
    call.messages_sent = 0;
    report.comms.back().calls.push_back(cell(call, 20));
    const std::string text = report_text(report);
    EXPECT_EQ(text.find("messages"), std::string::npos) << text;
    EXPECT_NE(text.find(" through the memory of one host; the exact codec"), std::string::npos)
        << text;
}

TEST(ReportText, TellsOfNicAgentsWhereThereAreSome) {
    ReportSnapshot report = empty();
    EXPECT_EQ(report_text(report).find("NIC"), std::string::npos);
    EXPECT_EQ(report_json(report).find("\"nic\""), std::string::npos);
    report.nic = {.frames_sent = 1200, .bytes_sent = 64 << 20, .frames_coded = 600};
    EXPECT_NE(
        report_text(report).find(
            "NIC agents: 1200 frames, 64 MiB handed over; 600 of them to be encoded\n\ntotal"),
        std::string::npos)
        << report_text(report);
    report.nic.detoured_frames = 3;
    report.nic.detoured_bytes = 2048;
    report.nic.lost_ranks = 1;
    EXPECT_NE(report_text(report).find("  1 rank lost to them; 3 frames, 2 KiB went round them\n"),
              std::string::npos)
        << report_text(report);
    EXPECT_NE(report_json(report).find("\"detoured_bytes\": 2048"), std::string::npos);
}

TEST(ReportText, OfAFullRun) {
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
    expect_golden("full.txt", report_text(report));
}

TEST(ReportText, OfARunWithoutCalls) {
    ReportSnapshot report = empty();
    CommEntry unused;
    unused.name = "never used";
    unused.communicators = 1;
    report.comms.push_back(unused);
    const std::string text = report_text(report);
    EXPECT_EQ(text.find("never used"), std::string::npos);
    expect_golden("empty.txt", text);
}

TEST(ReportText, TablesFitIntoAHundredColumns) {
    ReportSnapshot report = empty();
    CommEntry huge = world_with_calls();
    for (CallCell& one : huge.calls) {
        for (CallSums* sums : {&one.all, &one.lossy}) {
            sums->calls = sums->served = sums->over_shared_memory = sums->compressed =
                sums->passed = 123'456'789'012'345;
            sums->bytes_in = sums->bytes_sent = 1'234'567'890'123'456;
            sums->bytes_sent_exact = sums->bytes_sent * 15 / 8;
            sums->total_ns = sums->codec_ns = sums->wire_ns = 123'456'789'012'345;
        }
    }
    report.comms.push_back(huge);
    std::istringstream lines(report_text(report));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ReportText, LongAndOddTextsAreCutAndCleaned) {
    ReportSnapshot report = empty();
    report.process.command = std::string(5000, 'x');
    CommEntry comm = world_with_calls();
    comm.name = "line\nbreak\x1b[31m";
    comm.trees[0].expression = std::string(5000, '(');
    report.comms.push_back(comm);
    const std::string text = report_text(report);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("line?break?"), std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 260U);
}

}  // namespace
}  // namespace gradcoll
