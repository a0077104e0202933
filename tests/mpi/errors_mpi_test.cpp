// Bad use gives the right MPI error class, a message that names the thing, a call of the
// communicator's error handler, and no hang.
#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

/// Checks as much of the text as MPI has room for; MPICH 4.0 has no texts for codes that are added
/// to its classes.
void expect_text_of_mpi([[maybe_unused]] int code) {
#if defined(OPEN_MPI) || !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 50000000
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    EXPECT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    EXPECT_EQ(text, error_text(code).substr(0, MPI_MAX_ERROR_STRING - 1));
#endif
}

void expect_error(int code, int expected_class, std::initializer_list<const char*> words) {
    expect_text_of_mpi(code);
    EXPECT_EQ(class_of(code), expected_class) << error_text(code);
    const std::string text = error_text(code);
    for (const char* word : words)
        EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
}

class Errors : public testing::Test {
  protected:
    int sum(const void* in, void* out, int count, MPI_Datatype type = MPI_FLOAT,
            MPI_Op op = MPI_SUM) {
        return GC_Allreduce(in, out, count, type, op, comm);
    }
    const OwnComm comm{"flat"};
    float a[64] = {};
    float b[64] = {};
};

TEST_F(Errors, NegativeCountNamesIt) {
    expect_error(sum(a, b, -3), MPI_ERR_COUNT, {"GC_Allreduce", "count", "-3"});
}

TEST_F(Errors, NullBuffersWithACount) {
    expect_error(sum(nullptr, b, 4), MPI_ERR_BUFFER, {"sendbuf", "null", "16 bytes"});
    expect_error(sum(a, nullptr, 4), MPI_ERR_BUFFER, {"recvbuf", "null"});
    EXPECT_EQ(sum(nullptr, nullptr, 0), MPI_SUCCESS);
}

TEST_F(Errors, OverlappingBuffers) {
    expect_error(sum(a, a, 4), MPI_ERR_BUFFER, {"overlap", "MPI_IN_PLACE"});
    expect_error(sum(a, a + 3, 4), MPI_ERR_BUFFER, {"overlap"});
    expect_error(sum(a, MPI_IN_PLACE, 4), MPI_ERR_BUFFER, {"recvbuf", "MPI_IN_PLACE"});
    EXPECT_EQ(sum(a, a + 4, 4), MPI_SUCCESS);
}

TEST_F(Errors, NullHandles) {
    expect_error(sum(a, b, 4, MPI_DATATYPE_NULL), MPI_ERR_TYPE, {"datatype"});
    expect_error(sum(a, b, 4, MPI_FLOAT, MPI_OP_NULL), MPI_ERR_OP, {"op"});
}

TEST_F(Errors, OpsThatMpiDoesNotDefineForATypeFailAsInMpi) {
    EXPECT_NE(sum(a, b, 4, MPI_FLOAT, MPI_BAND), MPI_SUCCESS);
    expect_error(sum(a, b, 4, GC_Type_float16(), MPI_BAND), MPI_ERR_OP, {"band", "16-bit"});
}

TEST_F(Errors, AnErrorOfMpiHasMpisTextWhateverFailedBefore) {
    expect_error(sum(a, b, 4, MPI_FLOAT, MPI_OP_NULL), MPI_ERR_OP, {"GC_Allreduce"});
    const int code = sum(a, b, 4, MPI_FLOAT, MPI_BAND);
    EXPECT_EQ(error_text(code).find("GC_Allreduce"), std::string::npos) << error_text(code);
}

TEST_F(Errors, TextsThatCannotBeGivenAreRefusedOrNamedByNumber) {
    EXPECT_EQ(class_of(GC_Error_string(MPI_SUCCESS, nullptr, nullptr)), MPI_ERR_ARG);
    char text[GC_MAX_ERROR_STRING];
    EXPECT_EQ(GC_Error_string(MPI_ERR_COUNT, text, nullptr), MPI_SUCCESS);
    EXPECT_STRNE(text, "");
    EXPECT_EQ(GC_Error_string(123'456'789, text, nullptr), MPI_SUCCESS)
        << "MPI_COMM_WORLD's handler, which ends programs, is not asked";
}

TEST(ErrorsOfComm, NullGoesToTheHandlerOfCommWorld) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    float x = 0;
    expect_error(GC_Allreduce(MPI_IN_PLACE, &x, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM,
                 {"MPI_COMM_NULL"});
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/// There is one code for each class however many failures there are: MPI has no way to take codes
/// back.
TEST_F(Errors, HaveOneCodeForEachClass) {
    const int code = sum(a, b, -1);
    const int other = sum(nullptr, b, 4);
    EXPECT_NE(class_of(code), class_of(other));
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(sum(a, b, -2 - i), code);
        expect_error(sum(nullptr, b, 5 + i), MPI_ERR_BUFFER, {"sendbuf"});
    }
}

int handled_class = MPI_SUCCESS;
void remember_class(MPI_Comm*, int* code, ...) {
    handled_class = class_of(*code);
}

TEST_F(Errors, TheHandlerOfTheCommunicatorIsCalledWithTheClass) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(remember_class, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    EXPECT_EQ(class_of(sum(a, b, -1)), MPI_ERR_COUNT);
    EXPECT_EQ(handled_class, MPI_ERR_COUNT);
    MPI_Errhandler_free(&handler);
}

TEST_F(Errors, UnknownCodecOnAllRanksChangesNothing) {
    expect_error(GC_Comm_set_codec(comm, "3:4"), MPI_ERR_ARG, {"gc_codec", "3:4", "2:4"});
    char value[32];
    ASSERT_EQ(GC_Comm_get_option(comm, "gc_codec", value, sizeof value, nullptr), MPI_SUCCESS);
    EXPECT_STREQ(value, "exact");
    expect_error(GC_Comm_set_codec(comm, nullptr), MPI_ERR_ARG, {"codec", "null"});
}

TEST_F(Errors, SettingsThatDifferNameTheSettingAndTheRanks) {
    if (comm.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
    const int last = comm.size() - 1;
    const int code = GC_Comm_set_codec(comm, comm.rank() == last ? "1:4" : "2:4");
    expect_error(code, MPI_ERR_ARG, {"gc_codec", "'2:4'", "'1:4'", std::to_string(last).c_str()});
    const int bad_on_one =
        GC_Comm_set_option(comm, comm.rank() == last ? "gc_nonsense" : "gc_codec", "exact");
    EXPECT_EQ(class_of(bad_on_one), MPI_ERR_ARG);
    EXPECT_EQ(sum(a, b, 64), MPI_SUCCESS);
}

TEST_F(Errors, UnknownKeyNamesTheNearest) {
    expect_error(GC_Comm_set_option(comm, "gc_min_byte", "1"), MPI_ERR_ARG,
                 {"gc_min_byte", "did you mean gc_compress_bytes"});
}

TEST_F(Errors, SchedulesMustStartAtZeroAndIncrease) {
    expect_error(GC_Comm_set_schedule(comm, "5:2:4"), MPI_ERR_ARG, {"schedule", "step 0"});
    expect_error(GC_Comm_set_schedule(comm, "0:4:4,10:2:4,10:1:4"), MPI_ERR_ARG,
                 {"phase 3", "increase"});
    expect_error(GC_Comm_set_schedule(comm, "0:9:4"), MPI_ERR_ARG, {"phase 1", "9:4"});
    expect_error(GC_Step(comm, -1), MPI_ERR_ARG, {"step", "-1"});
}

TEST_F(Errors, BadTreesSayWhere) {
    EXPECT_EQ(class_of(GC_Comm_set_option(comm, "gc_topology", "((0 1)")), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Comm_set_option(comm, "gc_topology", "(0 0)")), MPI_ERR_ARG);
    EXPECT_EQ(sum(a, b, 64), MPI_SUCCESS) << "the old tree still serves";
}

TEST_F(Errors, PersistentCodecsMustFitTypeAndOp) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", "2:4");
    int ints[8] = {};
    GC_Request request = GC_REQUEST_NULL;
    expect_error(GC_Allreduce_init(MPI_IN_PLACE, ints, 8, MPI_INT, MPI_SUM, comm, info, &request),
                 MPI_ERR_ARG, {"codec", "int32"});
    expect_error(GC_Allreduce_init(a, b, 8, MPI_FLOAT, MPI_MAX, comm, info, &request), MPI_ERR_OP,
                 {"max", "MPI_SUM"});
    MPI_Info_set(info, "gc_codex", "2:4");
    expect_error(GC_Allreduce_init(a, b, 8, MPI_FLOAT, MPI_SUM, comm, info, &request), MPI_ERR_ARG,
                 {"gc_codex", "did you mean gc_codec"});
    MPI_Info_free(&info);
    EXPECT_EQ(request, GC_REQUEST_NULL);
}

TEST_F(Errors, ResidualsAreForFloats) {
    GC_Residual residual = GC_RESIDUAL_NULL;
    expect_error(GC_Residual_create(comm, 100, MPI_INT, &residual), MPI_ERR_TYPE, {"MPI_FLOAT"});
    ASSERT_EQ(GC_Residual_create(comm, 100, MPI_FLOAT, &residual), MPI_SUCCESS);
    EXPECT_EQ(class_of(GC_Allreduce_residual(a, b, 64, MPI_FLOAT, MPI_MAX, comm, residual)),
              MPI_ERR_OP);
    if (comm.size() > 1) {
        expect_error(GC_Allreduce_residual(a, b, 64, MPI_FLOAT, MPI_SUM, comm, residual),
                     MPI_ERR_ARG, {"count", "100", "64"});
    }
    EXPECT_EQ(GC_Residual_free(&residual), MPI_SUCCESS);
}

TEST_F(Errors, NullRequestsHaveTheirClass) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    GC_Request request = GC_REQUEST_NULL;
    EXPECT_EQ(class_of(GC_Start(&request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(GC_Wait(&request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(GC_Request_free(&request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(GC_Start(nullptr)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(GC_Startall(-1, &request)), MPI_ERR_COUNT);
    EXPECT_EQ(class_of(GC_Waitall(1, nullptr)), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Waitall(1, &request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(GC_Request_set_step(request, 1)), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST_F(Errors, StartedRequestsGoOnWhatIsAskedOfThemWrongly) {
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(a, b, 8, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    ASSERT_EQ(GC_Start(&request), MPI_SUCCESS);
    expect_error(GC_Start(&request), MPI_ERR_REQUEST, {"started already"});
    expect_error(GC_Test(&request, nullptr), MPI_ERR_ARG, {"flag"});
    expect_error(GC_Request_set_step(request, -1), MPI_ERR_ARG, {"-1", "0 and more"});
    expect_error(GC_Request_get_residual(request, nullptr), MPI_ERR_ARG, {"residual"});
    EXPECT_EQ(GC_Wait(&request), MPI_SUCCESS);
    EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, GC_REQUEST_NULL);
    expect_error(GC_Step(comm, -1), MPI_ERR_ARG, {"-1", "0 and more"});
    EXPECT_EQ(class_of(GC_Comm_get_stats(comm, nullptr)), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Iallreduce(a, b, 8, MPI_FLOAT, MPI_SUM, comm, nullptr)), MPI_ERR_REQUEST);
}

TEST_F(Errors, BlocksOfOtherSizesAreRefused) {
    expect_error(GC_Allgather(a, 8, MPI_FLOAT, b, 4, MPI_FLOAT, comm), MPI_ERR_COUNT,
                 {"32 bytes", "16"});
    EXPECT_EQ(class_of(GC_Reduce_scatter_block(a, b, -1, MPI_FLOAT, MPI_SUM, comm)), MPI_ERR_COUNT);
    EXPECT_EQ(class_of(GC_Allgather(a, 1, MPI_FLOAT, nullptr, 1, MPI_FLOAT, comm)), MPI_ERR_BUFFER);
}

TEST_F(Errors, CollectiveCheckNamesTheRankAndTheFieldInsteadOfHanging) {
    if (comm.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
    comm.set("gc_check", "collective");
    EXPECT_EQ(sum(a, b, 64), MPI_SUCCESS);
    const int odd_one = comm.size() - 1;
    const int count = comm.rank() == odd_one ? 32 : 64;
    expect_error(sum(a, b, count), MPI_ERR_ARG,
                 {"count", "'64'", "'32'", std::to_string(odd_one).c_str()});
    expect_error(sum(a, b, 16, comm.rank() == odd_one ? MPI_INT : MPI_FLOAT), MPI_ERR_ARG,
                 {"datatype", "fp32", "int32"});
    expect_error(sum(a, b, 16, MPI_FLOAT, comm.rank() == 0 ? MPI_MIN : MPI_SUM), MPI_ERR_ARG,
                 {"op", "min", "sum"});
    EXPECT_EQ(sum(a, b, 64), MPI_SUCCESS);
}

TEST_F(Errors, TreeTextsThatDoNotFitSayHowManyBytesTheyNeed) {
    char tiny[2];
    std::size_t length = sizeof tiny;
    expect_error(GC_Comm_get_tree(comm, GC_TREE_JSON, tiny, &length), MPI_ERR_ARG, {"needs"});
    std::string text(length, '\0');
    ASSERT_EQ(GC_Comm_get_tree(comm, GC_TREE_JSON, text.data(), &length), MPI_SUCCESS);
    EXPECT_EQ(class_of(GC_Comm_get_tree(comm, static_cast<GC_Tree_format>(7), nullptr, &length)),
              MPI_ERR_ARG);
}

}  // namespace
}  // namespace gradcoll::test
