// The report for people, against tests/golden/report; GRADCOLL_BLESS=1 writes the files anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/sample_report.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

using namespace test;

void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(GRADCOLL_TESTS_DIR) + "/golden/report/" + name;
    if (std::getenv("GRADCOLL_BLESS") != nullptr) std::ofstream(path) << text;
    std::ostringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
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

TEST(ReportText, TellsWhatNicAgentsDidOfCallsAndWhyNothing) {
    ReportSnapshot report = empty();
    report.comms.emplace_back();
    CallRecord call = tree_call(CallKind::allreduce, 1 << 20, false);
    call.agents = "carried and encoded";
    report.comms.back().calls.push_back(cell(call, 5));
    call.agents = "not used: messages are short";
    report.comms.back().calls.push_back(cell(call, 3));
    const std::string text = report_text(report);
    EXPECT_NE(text.find("    agents        5: carried and encoded\n"
                        "    agents        3: not used: messages are short\n"),
              std::string::npos)
        << text;
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
    expect_golden("full.txt", report_text(full_report()));
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
    report.ranks.push_back({1'048'575, "node7", total_of(report).sums});
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
