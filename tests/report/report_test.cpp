// What is added up, against plain sums over random calls.
#include "report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "report/rows.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

using Json = nlohmann::json;

ReportProcess process() {
    ReportProcess made;
    made.world_rank = 2;
    made.world_size = 5;
    made.host = "node7";
    made.process_id = 4711;
    made.mpi = "Some MPI v1.2";
    made.version = "0.1.0";
    made.command = "./train --epochs 5";
    return made;
}

constexpr const char* reasons[] = {"too small", "an intercommunicator"};
constexpr const char* builders[] = {"star", "wheel"};
constexpr const char* agents[] = {"carried", "not used: messages are short"};

CallRecord random_call(std::mt19937_64& random) {
    CallRecord call;
    call.kind = static_cast<CallKind>(random() % 7);
    call.bytes = (std::uint64_t{1} << random() % 34) + random() % 64 - 1;
    if (random() % 3 == 0) {
        call.pass_reason = reasons[random() % 2];
        return call;
    }
    call.shared_memory = random() % 4 == 0;
    call.lossy = !call.shared_memory && random() % 2 == 0;
    if (!call.shared_memory && random() % 3 == 0) call.builder = builders[random() % 2];
    if (!call.shared_memory && random() % 3 == 0) call.agents = agents[random() % 2];
    call.bytes_sent = random() % 100'000;
    call.bytes_sent_exact = call.lossy ? call.bytes_sent * 2 : call.bytes_sent;
    call.messages_sent = random() % 10;
    call.total_ns = random() % 1'000'000;
    call.codec_ns = call.lossy ? random() % 1000 : 0;
    call.wire_ns = random() % 100'000;
    return call;
}

/// Plain has the numbers of one cell, added up the plain way.
struct Plain {
    std::uint64_t calls = 0, served = 0, shared_memory = 0, compressed = 0, passed = 0,
                  bytes_in = 0, sent = 0;
    std::uint64_t exact = 0, messages = 0, total_ns = 0, codec_ns = 0, wire_ns = 0;
    std::uint64_t lossy_sent = 0, lossy_exact = 0, lossy_codec_ns = 0, lossy_wire_ns = 0;
    std::map<std::string, std::uint64_t> reasons, builders, agents;

    void add(const CallRecord& call) {
        ++calls;
        if (call.kind != CallKind::allreduce_init) bytes_in += call.bytes;
        if (call.pass_reason != nullptr) {
            ++passed;
            ++reasons[call.pass_reason];
            return;
        }
        ++served;
        if (call.builder != nullptr) ++builders[call.builder];
        if (call.agents != nullptr) ++agents[call.agents];
        shared_memory += call.shared_memory ? 1 : 0;
        sent += call.bytes_sent;
        exact += call.bytes_sent_exact;
        messages += call.messages_sent;
        total_ns += call.total_ns;
        codec_ns += call.codec_ns;
        wire_ns += call.wire_ns;
        if (!call.lossy) return;
        ++compressed;
        lossy_sent += call.bytes_sent;
        lossy_exact += call.bytes_sent_exact;
        lossy_codec_ns += call.codec_ns;
        lossy_wire_ns += call.wire_ns;
    }
};

void expect_equal(const Json& cell, const Plain& plain) {
    EXPECT_EQ(cell.at("calls"), plain.calls);
    EXPECT_EQ(cell.at("on_tree"), plain.served);
    EXPECT_EQ(cell.at("over_shared_memory"), plain.shared_memory);
    EXPECT_EQ(cell.at("compressed"), plain.compressed);
    EXPECT_EQ(cell.at("passed"), plain.passed);
    EXPECT_EQ(cell.at("bytes_in"), plain.bytes_in);
    EXPECT_EQ(cell.at("bytes_sent"), plain.sent);
    EXPECT_EQ(cell.at("bytes_sent_exact"), plain.exact);
    EXPECT_EQ(cell.at("messages_sent"), plain.messages);
    EXPECT_NEAR(cell.at("seconds").get<double>(), static_cast<double>(plain.total_ns) * 1e-9,
                1e-12);
    EXPECT_NEAR(cell.at("codec_seconds").get<double>(), static_cast<double>(plain.codec_ns) * 1e-9,
                1e-12);
    EXPECT_NEAR(cell.at("wire_seconds").get<double>(), static_cast<double>(plain.wire_ns) * 1e-9,
                1e-12);
}

void expect_estimate(const Json& cell, const Plain& plain) {
    const Json& saved = cell.at("saved_seconds_estimate");
    if (plain.compressed == 0 || plain.lossy_sent == 0 || plain.lossy_wire_ns == 0) {
        EXPECT_TRUE(saved.is_null());
        return;
    }
    const double ratio =
        static_cast<double>(plain.lossy_exact) / static_cast<double>(plain.lossy_sent);
    const double wire_s = static_cast<double>(plain.lossy_wire_ns) * 1e-9;
    const double codec_s = static_cast<double>(plain.lossy_codec_ns) * 1e-9;
    EXPECT_NEAR(saved.get<double>(), wire_s * (ratio - 1) - codec_s, 1e-12);
}

TEST(Report, SumsOfRandomCallsAreThoseOfAPlainReference) {
    using Key = std::tuple<std::string, std::string, std::uint64_t>;  // name, call, first bytes
    std::mt19937_64 random(7);
    Report report(process());
    const std::vector<std::string> names{"alpha", "beta", "gamma"};
    std::vector<Report::CommId> ids;
    for (const std::string& name : names) ids.push_back(report.add_comm(name, 4));
    std::map<Key, Plain> expected;
    Plain total;
    for (int i = 0; i < 20'000; ++i) {
        const CallRecord call = random_call(random);
        const std::size_t comm = random() % names.size();
        report.add_call(ids[comm], call);
        expected[{names[comm], std::string(name_of(call.kind)),
                  size_bin_begin(size_bin_of(call.bytes))}]
            .add(call);
        total.add(call);
    }

    const Json json = Json::parse(report.json());

    std::size_t seen = 0;
    for (const Json& comm : json.at("communicators"))
        for (const Json& cell : comm.at("calls")) {
            const Plain& plain =
                expected.at({comm.at("name"), cell.at("call"), cell.at("bytes_from")});
            expect_equal(cell, plain);
            expect_estimate(cell, plain);
            EXPECT_EQ((cell.at("pass_reasons").get<std::map<std::string, std::uint64_t>>()),
                      plain.reasons);
            EXPECT_EQ((cell.at("builders").get<std::map<std::string, std::uint64_t>>()),
                      plain.builders);
            const Json by_agents = cell.value("agents", Json::object());
            EXPECT_EQ((by_agents.get<std::map<std::string, std::uint64_t>>()), plain.agents);
            ++seen;
        }
    EXPECT_EQ(seen, expected.size());
    expect_equal(json.at("total"), total);
}

TEST(Report, JsonSaysWhichProcessWasSeen) {
    const Json json = Json::parse(Report(process()).json());
    EXPECT_EQ(json.at("schema"), "gradcoll-report");
    EXPECT_EQ(json.at("schema_version"), 1);
    const Json& seen = json.at("process");
    EXPECT_EQ(seen.at("rank"), 2);
    EXPECT_EQ(seen.at("ranks"), 5);
    EXPECT_EQ(seen.at("host"), "node7");
    EXPECT_EQ(seen.at("process_id"), 4711);
    EXPECT_EQ(seen.at("command"), "./train --epochs 5");
    EXPECT_GE(seen.at("seconds").get<double>(), 0);
    EXPECT_EQ(json.at("total").at("calls"), 0);
    EXPECT_TRUE(json.at("total").at("saved_seconds_estimate").is_null());
}

TEST(Report, NamesThatAreNoUtf8AreReplacedNotFatal) {
    Report report(process());
    report.add_call(report.add_comm("bad \xff\xfe \"name\"\n", 2), {});
    const Json json = Json::parse(report.json());
    const std::string name = json.at("communicators").at(0).at("name");
    EXPECT_NE(name.find("\"name\""), std::string::npos);
    EXPECT_NE(name.find("\xEF\xBF\xBD"), std::string::npos);  // the replacement character
}

TEST(Report, ReasonsOfOneTextAreOneReason) {
    const std::string copy = reasons[0];
    Report report(process());
    const auto comm = report.add_comm("c", 2);
    CallRecord call;
    call.pass_reason = reasons[0];
    report.add_call(comm, call);
    call.pass_reason = copy.c_str();
    report.add_call(comm, call);
    const ReportSnapshot snapshot = report.snapshot();
    ASSERT_EQ(snapshot.comms.at(0).calls.at(0).reasons.size(), 1U);
    EXPECT_EQ(snapshot.comms[0].calls[0].reasons[0].calls, 2U);
}

TEST(Report, CommunicatorsOfOneNameAndSizeShareAnEntry) {
    Report report(process());
    for (int i = 0; i < 5000; ++i)
        report.add_call(report.add_comm(i % 2 == 0 ? "row" : "column", 4), {});
    report.add_call(report.add_comm("row", 5), {});
    const ReportSnapshot snapshot = report.snapshot();
    ASSERT_EQ(snapshot.comms.size(), 3U);
    EXPECT_EQ(snapshot.comms[0].communicators, 2500U);
    EXPECT_EQ(snapshot.comms[0].calls.at(0).all.calls, 2500U);
    EXPECT_EQ(snapshot.comms[2].rank_count, 5);
}

TEST(Report, EntriesAreBoundedAndNoCallIsLost) {
    constexpr int comms = 3000;
    Report report(process());
    for (int i = 0; i < comms; ++i)
        report.add_call(report.add_comm("comm " + std::to_string(i), 4), {});
    const ReportSnapshot snapshot = report.snapshot();
    EXPECT_EQ(snapshot.comms.size(), 256U);
    EXPECT_EQ(snapshot.comms.back().name, "other communicators");
    EXPECT_EQ(snapshot.comms.back().communicators, comms - 255U);
    EXPECT_EQ(total_of(snapshot).sums.calls, static_cast<std::uint64_t>(comms));
    EXPECT_TRUE(Json::parse(report.json()).at("communicators").back().at("ranks").is_null());
}

TEST(Report, TreesAreListedOnceEachAndBounded) {
    Report report(process());
    const auto comm = report.add_comm("c", 4);
    for (int i = 0; i < 3; ++i) report.set_tree(comm, "((0 1) (2 3))", "written");
    for (int i = 0; i < 10; ++i) report.set_tree(comm, "tree " + std::to_string(i), "written");
    const ReportSnapshot snapshot = report.snapshot();
    const CommEntry& entry = snapshot.comms.at(0);
    EXPECT_EQ(entry.trees.at(0).communicators, 3U);
    std::uint64_t all = entry.trees_not_listed;
    for (const TreeUse& tree : entry.trees) all += tree.communicators;
    EXPECT_EQ(all, 13U);
    EXPECT_LE(entry.trees.size(), 4U);
}

TEST(Report, ErrorsKeepTheWorstAndTheMean) {
    Report report(process());
    const auto comm = report.add_comm("c", 4);
    report.add_error(comm, 1000, {0.5, 0.1, 0});
    report.add_error(comm, 1000, {0.25, 0.3, 0.5});
    report.add_error(comm, 1 << 20, {std::numeric_limits<double>::infinity(), 1, 0});
    const Json errors = Json::parse(report.json()).at("communicators").at(0).at("errors");
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].at("measurements"), 2);
    EXPECT_EQ(errors[0].at("max_abs"), 0.5);
    EXPECT_EQ(errors[0].at("promises"), 1);
    EXPECT_EQ(errors[0].at("least_promised_abs"), 0.5);
    EXPECT_EQ(errors[0].at("most_of_promise"), 0.5);
    EXPECT_FALSE(errors[1].contains("promises"));
    EXPECT_EQ(errors[0].at("max_relative_l2"), 0.3);
    EXPECT_NEAR(errors[0].at("mean_relative_l2").get<double>(), 0.2, 1e-15);
    EXPECT_TRUE(errors[1].at("max_abs").is_null());  // JSON has no infinity
}

TEST(Report, CodecsLeftOutAreListedOnceBySizeAndBounded) {
    Report report(process());
    const auto comm = report.add_comm("a", 4);
    for (int round = 0; round < 2; ++round)
        for (std::uint64_t bytes = 100; bytes > 0; --bytes)
            report.add_left_out(comm, {bytes, bytes % 2 == 0 ? -1 : 1, "2:4", 20, 10});
    const CommEntry entry = report.snapshot().comms.front();
    ASSERT_EQ(entry.left_out.size(), 32U);
    EXPECT_EQ(entry.left_out.front().bytes, 69U);
    EXPECT_EQ(entry.left_out.back().bytes, 100U);
    EXPECT_EQ(entry.left_out_not_listed, 2 * 68U);
    const Json json = Json::parse(report.json());
    const Json& listed = json.at("communicators").at(0).at("codecs_left_out");
    const Json& one = listed.at(0);
    EXPECT_EQ(one["bytes"], 69);
    EXPECT_EQ(one["level"], 1);
    EXPECT_EQ(one["codec"], "2:4");
    EXPECT_DOUBLE_EQ(one["predicted_seconds"].get<double>(), 20e-6);
    EXPECT_DOUBLE_EQ(one["predicted_seconds_exact"].get<double>(), 10e-6);
    EXPECT_TRUE(
        Json::parse(report.json())["communicators"][0]["codecs_left_out"][1]["level"].is_null());
}

TEST(Report, NoSavingIsClaimedWithoutCompressionOrTimeOnTheWire) {
    CallCell cell;
    CallRecord call;
    call.bytes_sent = call.bytes_sent_exact = 1000;
    call.wire_ns = 1000;
    cell.add(call);
    EXPECT_FALSE(cell.saved_seconds());
    call.lossy = true;
    call.bytes_sent_exact = 2000;
    call.wire_ns = 0;
    cell.add(call);
    EXPECT_FALSE(cell.saved_seconds());
    call.wire_ns = 1'000'000'000;
    call.codec_ns = 250'000'000;
    call.bytes_sent_exact = 2000;
    cell.add(call);
    ASSERT_TRUE(cell.saved_seconds());
    EXPECT_NEAR(*cell.saved_seconds(), 0.75, 1e-9);
}

TEST(Report, SlowCodecsCostTime) {
    CallCell cell;
    CallRecord call;
    call.lossy = true;
    call.bytes_sent = 1000;
    call.bytes_sent_exact = 2000;
    call.wire_ns = 1'000'000'000;
    call.codec_ns = 3'000'000'000;
    cell.add(call);
    EXPECT_NEAR(cell.saved_seconds().value(), -2, 1e-9);
}

TEST(Report, NumbersThatWereNotGivenOutAreIgnored) {
    Report report(process());
    report.add_call(17, {});
    report.add_error(17, 1, {1, 1, 0});
    report.set_tree(17, "0", "");
    EXPECT_EQ(total_of(report.snapshot()).sums.calls, 0U);
}

TEST(Report, ThreadsAddAndReadAtTheSameTime) {
    constexpr int threads = 4, calls = 2000;
    Report report(process());
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&report, t] {
            std::mt19937_64 random(static_cast<std::uint64_t>(t));
            for (int i = 0; i < calls; ++i) {
                const auto comm = report.add_comm("comm " + std::to_string(i % 300), 2);
                report.add_call(comm, random_call(random));
                report.add_error(comm, 100, {1, 1, 0});
                report.set_tree(comm, "(0 1)", "written");
                if (i % 500 == 0) {
                    EXPECT_TRUE(Json::accept(report.json()));
                }
            }
        });
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(total_of(report.snapshot()).sums.calls, std::uint64_t{threads} * calls);
}

}  // namespace
}  // namespace gradcoll
