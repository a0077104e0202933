// tests/tools/explain_mpi_test.cpp - GC_Explain_allreduce says what GC_Allreduce then does, and
// changes nothing.
#include <nlohmann/json.hpp>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

using nlohmann::json;

struct Call {
    int count;
    MPI_Datatype datatype;
    MPI_Op op;
};

std::string explained(MPI_Comm comm, const Call& call, GC_Explain_format format) {
    std::size_t length = 0;
    EXPECT_EQ(
        GC_Explain_allreduce(comm, call.count, call.datatype, call.op, format, nullptr, &length),
        MPI_SUCCESS);
    std::string text(length, '\0');
    EXPECT_EQ(GC_Explain_allreduce(comm, call.count, call.datatype, call.op, format, text.data(),
                                   &length),
              MPI_SUCCESS);
    text.resize(length - 1);
    return text;
}

json explained(MPI_Comm comm, const Call& call) {
    return json::parse(explained(comm, call, GC_EXPLAIN_JSON));
}

GC_Stats stats_of_doing(const OwnComm& comm, const Call& call) {
    int size_bytes = 0;
    MPI_Type_size(call.datatype, &size_bytes);
    std::vector<char> in(
        static_cast<std::size_t>(call.count) * static_cast<std::size_t>(size_bytes) + 1);
    std::vector<char> out(in.size());
    GC_Comm_reset_stats(comm);
    EXPECT_EQ(GC_Allreduce(in.data(), out.data(), call.count, call.datatype, call.op, comm),
              MPI_SUCCESS);
    return comm.stats();
}

void expect_told(const json& told, const GC_Stats& stats) {
    SCOPED_TRACE(told.dump());
    const std::string route = told["route"];
    EXPECT_EQ(stats.calls_passed, route == "mpi" ? 1U : 0U);
    EXPECT_EQ(stats.calls_tree, route == "mpi" ? 0U : 1U);
    EXPECT_EQ(stats.calls_compressed, told["compressed"].get<bool>() ? 1U : 0U);
    EXPECT_EQ(stats.bytes_sent, told["sends"]["bytes"].get<std::uint64_t>());
    EXPECT_EQ(stats.bytes_sent_exact, told["sends"]["exact_bytes"].get<std::uint64_t>());
    EXPECT_EQ(stats.messages_sent, told["sends"]["messages"].get<std::uint64_t>());
    if (route == "mpi") {
        EXPECT_EQ(told["pass_reason"].get<std::string>(), stats.last_pass_reason);
    }
}

std::vector<Call> calls() {
    std::vector<Call> calls;
    for (const int count : {0, 1000, 70000, 300001}) {
        calls.push_back({count, MPI_FLOAT, MPI_SUM});
        calls.push_back({count, GC_Type_bfloat16(), MPI_SUM});
        calls.push_back({count, MPI_DOUBLE, MPI_MAX});
        calls.push_back({count, MPI_INT, MPI_SUM});
    }
    calls.push_back({1000, MPI_2INT, MPI_MAXLOC});
    calls.push_back({100000, MPI_C_BOOL, MPI_LAND});
    return calls;
}

void explain_and_do_all(const OwnComm& comm) {
    for (const Call& call : calls()) expect_told(explained(comm, call), stats_of_doing(comm, call));
}

TEST(Explain, TellsWhatTheCallThenDoesWithTheSettingsOfTheProcess) {
    explain_and_do_all(OwnComm());
}

TEST(Explain, TellsWhatTheCallThenDoesOnEveryTreeWithEveryKindOfCodec) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const char* codec : {"exact", "2:4", "bf16"}) {
            SCOPED_TRACE(tree + " with " + codec);
            const OwnComm comm(tree);
            comm.set("gc_codec", codec);
            explain_and_do_all(comm);
        }
}

TEST(Explain, FollowsThresholdsLevelsAndChunks) {
    const int n = size_of(MPI_COMM_WORLD);
    const OwnComm comm(n < 3 ? "flat" : "((0 1) (" + ranks_from(2, n) + "))");
    comm.set("gc_tree_min_bytes", "100K");
    comm.set("gc_compress_bytes", "200K-1M");
    comm.set("gc_codec", "exact,1:4,down=bf16");
    comm.set("gc_chunk_bytes", "64K");
    comm.set("gc_exchange", "ring");
    explain_and_do_all(comm);
}

TEST(Explain, SaysWhoBuildsThePlanAndHowOftenAContributionIsEncoded) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_codec", "2:4");
    const Call call{300001, MPI_FLOAT, MPI_SUM};
    for (const auto& [exchange, times] : {std::pair{"direct", 1}, {"ring", comm.size() - 1}}) {
        comm.set("gc_exchange", exchange);
        const json plan = explained(comm, call)["plan"];
        EXPECT_EQ(plan["builder"], "flexreduce");
        EXPECT_EQ(plan["builder_why"], "");
        EXPECT_EQ(plan["levels"][0]["most_encodings_up"], times) << exchange;
        EXPECT_EQ(plan["levels"][0][exchange], 1) << plan.dump();
        EXPECT_GT(plan["predicted_us"].get<double>(), 0);
    }
    comm.set("gc_codec", "exact");
    EXPECT_EQ(explained(comm, call)["plan"]["levels"][0]["most_encodings_up"], 0);
}

TEST(Explain, SaysWhatIsCheckedAndWhatIsNot) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    const auto said = [&](const Call& call) {
        return explained(comm, call)["check"].get<std::string>();
    };
    const Call sum{300001, MPI_FLOAT, MPI_SUM};
    EXPECT_EQ(said(sum), "");
    comm.set("gc_check", "sum");
    EXPECT_EQ(said(sum),
              "nothing is checked of a call that goes through the memory that all its "
              "ranks share");
    EXPECT_NE(explained(comm, sum, GC_EXPLAIN_TEXT).find("gc_check=sum: nothing is checked"),
              std::string::npos);
    comm.set("gc_shm_bytes", "0");
    EXPECT_EQ(said(sum), "each message has a checksum");
    expect_told(explained(comm, sum), stats_of_doing(comm, sum));
    EXPECT_EQ(said({1000, MPI_FLOAT, MPI_SUM}),
              "nothing is checked of a call that passes to the MPI library");
}

TEST(Explain, AsksForTheNextCallWithoutCountingIt) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_codec", "2:4");
    comm.set("gc_compress_calls", "1-");
    const Call call{50000, MPI_FLOAT, MPI_SUM};
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(explained(comm, call)["compressed"].get<bool>());
    EXPECT_EQ(stats_of_doing(comm, call).calls_compressed, 0U);
    EXPECT_TRUE(explained(comm, call)["compressed"].get<bool>());
    EXPECT_EQ(stats_of_doing(comm, call).calls_compressed, 1U);
}

TEST(Explain, NamesTheReasonAndTheSettingsInWords) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_tree_min_bytes", "1M");
    const std::string text = explained(comm, {1000, MPI_FLOAT, MPI_SUM}, GC_EXPLAIN_TEXT);
    EXPECT_NE(text.find("passes to MPI_Allreduce: vector is shorter than gc_tree_min_bytes"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("gc_tree_min_bytes = 1M (communicator)"), std::string::npos) << text;
}

json plan_of(MPI_Comm comm, const Call& call) {
    std::size_t length = 0;
    EXPECT_EQ(
        GC_Comm_get_plan(comm, call.count, call.datatype, call.op, GC_PLAN_JSON, nullptr, &length),
        MPI_SUCCESS);
    std::string text(length, '\0');
    EXPECT_EQ(GC_Comm_get_plan(comm, call.count, call.datatype, call.op, GC_PLAN_JSON, text.data(),
                               &length),
              MPI_SUCCESS);
    EXPECT_TRUE(same_on_all_ranks(std::vector<char>(text.begin(), text.end()), comm));
    text.resize(length - 1);
    return json::parse(text);
}

TEST(Plan, TheFirstLeafsLinkCarriesWhatRankZeroThenSends) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    for (const char* codec : {"exact", "2:4"}) {
        comm.set("gc_codec", codec);
        const Call call{300001, MPI_FLOAT, MPI_SUM};
        const json plan = plan_of(comm, call);
        const GC_Stats stats = stats_of_doing(comm, call);
        if (comm.rank() == 0) {
            EXPECT_EQ(plan["links"][0]["up_bytes"].get<double>(),
                      static_cast<double>(stats.bytes_sent));
        }
    }
}

TEST(Plan, RefusesWhatHasNone) {
    const OwnComm comm("flat");
    std::size_t length = 0;
    const auto ask = [&](MPI_Datatype type, MPI_Op op, int format, std::size_t* out) {
        return GC_Comm_get_plan(comm, 10, type, op, static_cast<GC_Plan_format>(format), nullptr,
                                out);
    };
    EXPECT_EQ(class_of(ask(MPI_DATATYPE_NULL, MPI_SUM, 0, &length)), MPI_ERR_TYPE);
    EXPECT_EQ(ask(MPI_FLOAT, MPI_SUM, GC_PLAN_DOT, &length), MPI_SUCCESS);
    for (const int none : {-1, 2, 4})  // 2 was SVG
        EXPECT_EQ(class_of(ask(MPI_FLOAT, MPI_SUM, none, &length)), MPI_ERR_ARG);
    EXPECT_EQ(class_of(ask(MPI_FLOAT, MPI_SUM, 0, nullptr)), MPI_ERR_ARG);
    EXPECT_NE(ask(MPI_2INT, MPI_MAXLOC, 0, &length), MPI_SUCCESS);
}

TEST(Explain, AnIntercommunicatorPasses) {
    const int n = size_of(MPI_COMM_WORLD);
    if (n < 2) GTEST_SKIP() << "needs two groups";
    const int rank = rank_of(MPI_COMM_WORLD);
    const bool low = rank < n / 2;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? n / 2 : 0, 7, &between);
    const json told = explained(between, {1000000, MPI_FLOAT, MPI_SUM});
    EXPECT_EQ(told["route"], "mpi");
    EXPECT_NE(told["pass_reason"].get<std::string>().find("intercommunicator"), std::string::npos);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

TEST(Explain, RefusesWhatTheCallWouldRefuse) {
    const OwnComm comm("flat");
    std::size_t length = 0;
    const auto ask = [&](MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
        return GC_Explain_allreduce(comm, count, datatype, op, GC_EXPLAIN_TEXT, nullptr, &length);
    };
    EXPECT_EQ(class_of(ask(-1, MPI_FLOAT, MPI_SUM)), MPI_ERR_COUNT);
    EXPECT_EQ(class_of(ask(1, MPI_DATATYPE_NULL, MPI_SUM)), MPI_ERR_TYPE);
    EXPECT_EQ(class_of(ask(1, MPI_FLOAT, MPI_OP_NULL)), MPI_ERR_OP);
    EXPECT_EQ(class_of(GC_Explain_allreduce(comm, 1, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_TEXT, nullptr,
                                            nullptr)),
              MPI_ERR_ARG);
    EXPECT_NE(error_text(MPI_ERR_ARG).find("length is null"), std::string::npos);
}

/// Removes the origins, which do differ.
json without_origins(json told) {
    told.erase("tree_origin");
    for (json& setting : told["settings"]) setting.erase("source");
    return told;
}

TEST(Predict, TellsForRanksThatAreNotThereWhatTheyAreToldOnceTheyAre) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        comm.set("gc_codec", "2:4");
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        const std::pair<const char*, std::string> keys[] = {{"gc_topology", tree},
                                                            {"gc_codec", "2:4"},
                                                            {"gc_tree_min_bytes", "0"},
                                                            {"gc_compress_bytes", "0"}};
        for (const auto& [key, value] : keys) MPI_Info_set(info, key, value.c_str());
        const json here = explained(comm, {123456, MPI_FLOAT, MPI_SUM});
        std::size_t length = 0;
        ASSERT_EQ(GC_Predict_allreduce(comm.size(), 123456, MPI_FLOAT, MPI_SUM, info,
                                       GC_EXPLAIN_JSON, nullptr, &length),
                  MPI_SUCCESS);
        std::string text(length, '\0');
        ASSERT_EQ(GC_Predict_allreduce(comm.size(), 123456, MPI_FLOAT, MPI_SUM, info,
                                       GC_EXPLAIN_JSON, text.data(), &length),
                  MPI_SUCCESS);
        MPI_Info_free(&info);
        text.resize(length - 1);
        if (comm.rank() == 0) {
            EXPECT_EQ(without_origins(json::parse(text)), without_origins(here));
        }
    }
}

}  // namespace
}  // namespace gradcoll::test
