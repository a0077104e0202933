// Reductions beside those of plain numbers give what the MPI library gives, through shared memory,
// over a tree as far as there are kernels, and where they pass; whatever handles they have.
#include "call/reductions.hpp"

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

using Bytes = std::vector<std::byte>;

std::string error_of_last_call() {
    return error_text(MPI_ERR_ARG);
}

/// Returns 0, few, odd, and more elements than two blocks of shared memory hold.
std::vector<std::size_t> counts_for(const Reduction& reduction) {
    return {0, 1, 2, 7, 100, 1001, (std::size_t{5} << 18) / reduction.element_bytes + 3};
}

Bytes mpis_result(const Reduction& reduction, const Bytes& in, int count, MPI_Comm comm) {
    Bytes out(in.size());
    EXPECT_EQ(PMPI_Allreduce(in.data(), out.data(), count, reduction.type, reduction.op, comm),
              MPI_SUCCESS);
    return reduction.meaning_of(out);
}

class ReductionTest : public testing::Test {
  protected:
    /// Expects that GC_Allreduce gives what MPI gives, in place and not.
    void expect_mpis(const Reduction& reduction, std::size_t count, MPI_Comm comm) {
        SCOPED_TRACE(reduction.name + ", " + std::to_string(count));
        const Bytes in = reduction.values(rank_of(comm), count);
        const int elements = static_cast<int>(count);
        const Bytes expected = mpis_result(reduction, in, elements, comm);
        Bytes out(in.size() + 16, std::byte{0xee});
        ASSERT_EQ(GC_Allreduce(in.data(), out.data(), elements, reduction.type, reduction.op, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(Bytes(out.end() - 16, out.end()), Bytes(16, std::byte{0xee}));
        out.resize(in.size());
        EXPECT_TRUE(reduction.meaning_of(out) == expected);
        out = in;
        ASSERT_EQ(
            GC_Allreduce(MPI_IN_PLACE, out.data(), elements, reduction.type, reduction.op, comm),
            MPI_SUCCESS);
        EXPECT_TRUE(reduction.meaning_of(out) == expected) << "in place";
    }

    Reductions reductions_;
};

TEST_F(ReductionTest, OverOneHostAreServedAndEqualMpis) {
    for (const Reduction& reduction : reductions_.all()) {
        const PlainComm comm;
        for (const std::size_t count : counts_for(reduction)) expect_mpis(reduction, count, comm);
        if (comm.size() == 1) continue;
        EXPECT_EQ(comm.stats().calls_tree, 2 * counts_for(reduction).size()) << reduction.name;
        EXPECT_EQ(comm.stats().calls_passed, 0U) << reduction.name;
    }
}

TEST_F(ReductionTest, InTurnsOnOneCommunicatorEqualMpis) {
    const PlainComm comm;
    for (int round = 0; round < 2; ++round)
        for (const std::size_t count : {3, 700})
            for (const Reduction& reduction : reductions_.all())
                expect_mpis(reduction, count, comm);
}

TEST_F(ReductionTest, OverTreesAreServedIfThereIsAKernelAndEqualMpis) {
    for (const Reduction& reduction : reductions_.all())
        for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
            SCOPED_TRACE(tree);
            const OwnComm comm(tree);
            for (const std::size_t count : {0, 1, 7, 1001}) expect_mpis(reduction, count, comm);
            if (comm.size() == 1) continue;
            EXPECT_EQ(comm.stats().calls_tree, reduction.has_kernel ? 8U : 0U) << reduction.name;
        }
}

TEST_F(ReductionTest, OnSmallSharedMemoryEqualMpis) {
    const PlainComm comm;
    ASSERT_EQ(GC_Comm_set_option(comm, "gc_shm_bytes", "128K"), MPI_SUCCESS);
    for (const Reduction& reduction : reductions_.all())
        for (const std::size_t count : counts_for(reduction)) expect_mpis(reduction, count, comm);
}

TEST_F(ReductionTest, OfBlocksEqualMpis) {
    const OwnComm comm("flat");
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (const Reduction& reduction : reductions_.all())
        for (const std::size_t count : {0, 1, 333}) {
            SCOPED_TRACE(reduction.name);
            const Bytes in = reduction.values(comm.rank(), count * ranks);
            Bytes out(count * reduction.element_bytes), expected = out;
            const int block = static_cast<int>(count);
            ASSERT_EQ(PMPI_Reduce_scatter_block(in.data(), expected.data(), block, reduction.type,
                                                reduction.op, comm),
                      MPI_SUCCESS);
            ASSERT_EQ(GC_Reduce_scatter_block(in.data(), out.data(), block, reduction.type,
                                              reduction.op, comm),
                      MPI_SUCCESS);
            EXPECT_TRUE(reduction.meaning_of(out) == reduction.meaning_of(expected));
        }
}

TEST_F(ReductionTest, OfRequestsEqualMpis) {
    const OwnComm comm("flat");
    for (const Reduction& reduction : reductions_.all()) {
        SCOPED_TRACE(reduction.name);
        const Bytes in = reduction.values(comm.rank(), 500);
        const Bytes expected = mpis_result(reduction, in, 500, comm);
        Bytes out(in.size());
        GC_Request persistent = GC_REQUEST_NULL;
        ASSERT_EQ(GC_Allreduce_init(in.data(), out.data(), 500, reduction.type, reduction.op, comm,
                                    MPI_INFO_NULL, &persistent),
                  MPI_SUCCESS);
        GC_Start(&persistent);
        ASSERT_EQ(GC_Wait(&persistent), MPI_SUCCESS);
        GC_Request_free(&persistent);
        EXPECT_TRUE(reduction.meaning_of(out) == expected) << "persistent";
        std::fill(out.begin(), out.end(), std::byte{0});
        MPI_Request request = MPI_REQUEST_NULL;
        ASSERT_EQ(
            GC_Iallreduce(in.data(), out.data(), 500, reduction.type, reduction.op, comm, &request),
            MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_TRUE(reduction.meaning_of(out) == expected) << "nonblocking";
    }
}

TEST_F(ReductionTest, OfUnchangedProgramsAreServedOnceThereWereEnough) {
    for (const Reduction& reduction : reductions_.all()) {
        SCOPED_TRACE(reduction.name);
        const PlainComm comm;
        const Bytes in = reduction.values(comm.rank(), 3);
        const Bytes expected = mpis_result(reduction, in, 3, comm);
        int served = 0;
        // Communicators of other tests may have raised the price of attaching to its highest.
        for (int call = 0; call < 700; ++call) {
            Bytes out(in.size());
            const Answer answer =
                connected().allreduce(in.data(), out.data(), 3, reduction.type, reduction.op, comm);
            if (!answer.served) continue;
            ++served;
            EXPECT_EQ(answer.code, MPI_SUCCESS);
            EXPECT_TRUE(reduction.meaning_of(out) == expected);
        }
        EXPECT_EQ(served > 10, comm.size() > 1);
    }
}

// ---- complex numbers

TEST(ComplexSums, AreCompressedAsTwiceAsManyReals) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
    comm.set("gc_codec", "2:4");
    std::vector<float> reals(2000), sums(2000);
    for (std::size_t i = 0; i < reals.size(); i += 2) reals[i] = static_cast<float>(i % 7);
    ASSERT_EQ(GC_Allreduce(reals.data(), sums.data(), 1000, MPI_C_FLOAT_COMPLEX, MPI_SUM, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < reals.size(); ++i)
        ASSERT_EQ(sums[i], reals[i] * static_cast<float>(comm.size()));
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    EXPECT_EQ(comm.stats().bytes_reduced, 8000U);
}

TEST(ComplexSums, TakeAResidual) {
    const OwnComm comm("flat");
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, 100, MPI_C_DOUBLE_COMPLEX, &residual), MPI_SUCCESS);
    std::vector<double> values(200, 1.5);
    EXPECT_EQ(GC_Allreduce_residual(MPI_IN_PLACE, values.data(), 100, MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                                    comm, residual),
              MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<double>(200, 1.5 * comm.size()));
    if (comm.size() > 1) {
        EXPECT_EQ(class_of(GC_Allreduce_residual(MPI_IN_PLACE, values.data(), 50,
                                                 MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm, residual)),
                  MPI_ERR_ARG);
    }
    GC_Residual_free(&residual);
}

// ---- mistakes

void add_ints(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

TEST(DifferentReductions, AreAnErrorOnEveryRankAndNobodyHangs) {
    const PlainComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
    MPI_Op own = MPI_OP_NULL;
    MPI_Op_create(add_ints, 1, &own);
    struct {
        MPI_Datatype type;
        MPI_Op op;
        MPI_Datatype others_type;
        MPI_Op others_op;
    } const calls[] = {{MPI_2INT, MPI_MINLOC, MPI_2INT, MPI_MAXLOC},
                       {MPI_2INT, MPI_MINLOC, MPI_FLOAT_INT, MPI_MINLOC},
                       {MPI_INT, own, MPI_INT, MPI_SUM},
                       {MPI_INT, own, MPI_DOUBLE, own},
                       {MPI_C_FLOAT_COMPLEX, MPI_PROD, MPI_C_FLOAT_COMPLEX, MPI_SUM},
                       {MPI_LONG_DOUBLE, MPI_MAX, MPI_LONG_DOUBLE, MPI_MIN}};
    for (const auto& call : calls) {
        std::vector<std::byte> data(200 * sizeof(long double));
        const bool first = comm.rank() == 0;
        EXPECT_EQ(class_of(GC_Allreduce(MPI_IN_PLACE, data.data(), 100,
                                        first ? call.type : call.others_type,
                                        first ? call.op : call.others_op, comm)),
                  MPI_ERR_ARG);
        EXPECT_NE(error_of_last_call().find("count, datatype or op"), std::string::npos);
        int one = 1;
        EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, own, comm), MPI_SUCCESS);
        EXPECT_EQ(one, comm.size());
    }
    MPI_Op_free(&own);
}

TEST(Explanations, SayThatOnlyOneHostServesWhatHasNoKernel) {
    const PlainComm host;
    const OwnComm tree("flat");
    const auto explained = [](MPI_Comm comm) {
        std::string text(1 << 16, '\0');
        std::size_t length = text.size();
        EXPECT_EQ(GC_Explain_allreduce(comm, 100, MPI_2INT, MPI_MINLOC, GC_EXPLAIN_TEXT,
                                       text.data(), &length),
                  MPI_SUCCESS);
        text.resize(length - 1);
        return text;
    };
    if (host.size() == 1) GTEST_SKIP() << "needs two ranks";
    EXPECT_NE(explained(host).find("through the memory that all its ranks share"),
              std::string::npos);
    EXPECT_NE(explained(tree).find("datatype is derived, or has no kernels here"),
              std::string::npos);
}

}  // namespace
}  // namespace gradcoll::test
