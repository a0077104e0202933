// Persistent requests: equal to MPI_Allreduce at every start, waited for in any order; phases and
// residuals.
#include <algorithm>
#include <memory>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

std::vector<float> exact_sum(const std::vector<float>& values, MPI_Comm comm) {
    std::vector<float> sum(values.size());
    MPI_Allreduce(values.data(), sum.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                  comm);
    return sum;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected,
                 double tolerance) {
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

struct Tensor {
    std::vector<float> in;
    std::vector<float> out;
    GC_Request request = GC_REQUEST_NULL;

    Tensor(const OwnComm& comm, std::size_t count, std::uint64_t seed,
           MPI_Info info = MPI_INFO_NULL)
        : in(floats<float>(comm.rank(), count, seed)), out(count) {
        EXPECT_EQ(GC_Allreduce_init(in.data(), out.data(), static_cast<MPI_Count>(count), MPI_FLOAT,
                                    MPI_SUM, comm, info, &request),
                  MPI_SUCCESS);
    }
    ~Tensor() { EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS); }
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;

    void run() {
        ASSERT_EQ(GC_Start(&request), MPI_SUCCESS);
        ASSERT_EQ(GC_Wait(&request), MPI_SUCCESS);
    }
    GC_Residual residual() const {
        GC_Residual residual = GC_RESIDUAL_NULL;
        EXPECT_EQ(GC_Request_get_residual(request, &residual), MPI_SUCCESS);
        return residual;
    }
    std::vector<std::byte> checkpoint() const {
        std::size_t size = 0;
        EXPECT_EQ(GC_Residual_size(residual(), &size), MPI_SUCCESS);
        std::vector<std::byte> bytes(size);
        EXPECT_EQ(GC_Residual_save(residual(), bytes.data(), size), MPI_SUCCESS);
        return bytes;
    }
};

TEST(Persistent, EveryStartSumsWhatTheBufferHoldsThen) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        Tensor tensor(comm, 3001, 1);
        for (std::uint64_t step = 0; step < 3; ++step) {
            tensor.in.assign(tensor.in.size(), static_cast<float>(step + 1));
            tensor.run();
            EXPECT_EQ(tensor.out, std::vector<float>(3001, static_cast<float>(step + 1) *
                                                               static_cast<float>(comm.size())));
        }
    }
}

TEST(Persistent, RanksMayWaitInDifferentOrders) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    const OwnComm other("flat");
    Tensor a(comm, 40000, 1), b(comm, 100, 2), c(other, 40000, 3);
    Tensor* order[] = {&a, &b, &c};
    for (Tensor* tensor : order) ASSERT_EQ(GC_Start(&tensor->request), MPI_SUCCESS);

    std::rotate(std::begin(order), std::begin(order) + comm.rank() % 3, std::end(order));
    for (Tensor* tensor : order) ASSERT_EQ(GC_Wait(&tensor->request), MPI_SUCCESS);

    for (const Tensor* tensor : {&a, &b, &c})
        expect_near(tensor->out, exact_sum(tensor->in, comm), 1e-5);
}

TEST(Persistent, ABlockingCallBetweenStartAndWaitMovesTheRequestToo) {
    const OwnComm comm("flat");
    Tensor tensor(comm, 30000, 1);
    std::vector<float> ones(20000, 1.0F);
    ASSERT_EQ(GC_Start(&tensor.request), MPI_SUCCESS);
    const auto reduce = [&] {
        return GC_Allreduce(MPI_IN_PLACE, ones.data(), 20000, MPI_FLOAT, MPI_SUM, comm);
    };

    int code = comm.rank() % 2 == 0 ? reduce() : MPI_SUCCESS;
    EXPECT_EQ(code, MPI_SUCCESS);
    ASSERT_EQ(GC_Wait(&tensor.request), MPI_SUCCESS);
    code = comm.rank() % 2 != 0 ? reduce() : MPI_SUCCESS;
    EXPECT_EQ(code, MPI_SUCCESS);

    EXPECT_EQ(ones, std::vector<float>(20000, static_cast<float>(comm.size())));
    expect_near(tensor.out, exact_sum(tensor.in, comm), 1e-5);
}

TEST(Persistent, PassingRequestsAndStartallWork) {
    const OwnComm comm;  // short vectors pass
    Tensor a(comm, 10, 1), b(comm, 20, 2);
    GC_Request both[] = {a.request, b.request};
    ASSERT_EQ(GC_Startall(2, both), MPI_SUCCESS);
    ASSERT_EQ(GC_Waitall(2, both), MPI_SUCCESS);
    expect_near(a.out, exact_sum(a.in, comm), 1e-6);
    expect_near(b.out, exact_sum(b.in, comm), 1e-6);
}

TEST(Persistent, TestCompletesWithoutWait) {
    const OwnComm comm("flat");
    Tensor tensor(comm, 9000, 4);
    int flag = 0;
    ASSERT_EQ(GC_Test(&tensor.request, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1) << "a request that is not started is complete";
    ASSERT_EQ(GC_Start(&tensor.request), MPI_SUCCESS);
    for (flag = 0; flag == 0;) ASSERT_EQ(GC_Test(&tensor.request, &flag), MPI_SUCCESS);
    expect_near(tensor.out, exact_sum(tensor.in, comm), 1e-5);
}

TEST(Persistent, StartingTwiceIsAnErrorThatSaysSo) {
    const OwnComm comm("flat");
    Tensor tensor(comm, 100, 1);
    ASSERT_EQ(GC_Start(&tensor.request), MPI_SUCCESS);
    EXPECT_EQ(class_of(GC_Start(&tensor.request)), MPI_ERR_REQUEST);
    EXPECT_NE(error_text(MPI_ERR_REQUEST).find("started already"), std::string::npos);
    EXPECT_EQ(GC_Wait(&tensor.request), MPI_SUCCESS);
}

TEST(Persistent, SchedulePhasesChangeTheCodecByStart) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    const Info info{{"gc_codec", "0:4:4,2:2:4,3:1:4"}};
    Tensor tensor(comm, 40000, 1, info);
    std::vector<unsigned long long> sent;
    for (int step = 0; step < 4; ++step) {
        GC_Comm_reset_stats(comm);
        tensor.run();
        EXPECT_TRUE(same_on_all_ranks(tensor.out, comm));
        sent.push_back(comm.stats().bytes_sent);
        EXPECT_EQ(comm.stats().calls_compressed, step < 2 ? 0U : 1U);
    }
    EXPECT_EQ(sent[0], sent[1]);
    EXPECT_LT(sent[2], sent[1]);
    EXPECT_LT(sent[3], sent[2]);

    ASSERT_EQ(GC_Request_set_step(tensor.request, 0), MPI_SUCCESS);
    GC_Comm_reset_stats(comm);
    tensor.run();
    EXPECT_EQ(comm.stats().bytes_sent, sent[0]);
}

/// Returns the error after some steps. With error feedback the same gradient again and again adds
/// up to what it should.
double relative_error_after(int steps, const OwnComm& comm, const char* feedback) {
    const Info info{{"gc_codec", "1:4"}, {"gc_feedback", feedback}};
    Tensor tensor(comm, 4096, 7, info);
    std::vector<double> total(tensor.in.size());
    for (int step = 0; step < steps; ++step) {
        tensor.run();
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += tensor.out[i];
    }
    const std::vector<float> exact = exact_sum(tensor.in, comm);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < total.size(); ++i) {
        error += std::pow(total[i] - steps * static_cast<double>(exact[i]), 2);
        norm += std::pow(steps * static_cast<double>(exact[i]), 2);
    }
    return std::sqrt(error / norm);
}

TEST(Persistent, FeedbackMakesTheSumOverStepsRight) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is compressed";
    const double without = relative_error_after(60, comm, "off");
    const double with = relative_error_after(60, comm, "on");
    EXPECT_LT(with, 0.15);
    EXPECT_LT(with, without / 4);
}

TEST(Persistent, AnExactStepFlushesTheResidual) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is compressed";
    const Info info{{"gc_codec", "0:2:4,1:exact"}};
    Tensor tensor(comm, 4096, 7, info);
    const std::vector<float> exact = exact_sum(tensor.in, comm);
    tensor.run();
    const std::vector<float> first = tensor.out;
    tensor.run();
    for (std::size_t i = 0; i < exact.size(); ++i)
        ASSERT_NEAR(first[i] + tensor.out[i], 2 * exact[i], 1e-4) << i;
    tensor.run();
    expect_near(tensor.out, exact, 1e-5);
}

TEST(Persistent, ARestoredResidualContinuesBitForBit) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is compressed";
    const Info info{{"gc_codec", "2:4"}};
    Tensor first(comm, 5000, 3, info);
    for (int step = 0; step < 3; ++step) first.run();
    const std::vector<std::byte> saved = first.checkpoint();
    first.run();

    Tensor second(comm, 5000, 3, info);
    ASSERT_EQ(GC_Residual_load(second.residual(), saved.data(), saved.size()), MPI_SUCCESS);
    second.run();

    EXPECT_EQ(second.out, first.out);
    EXPECT_EQ(second.checkpoint(), first.checkpoint());
}

/// A start beyond the number that tags tell apart (2048 with Open MPI) is put off, and a blocking
/// call waits until its number is free. The last of the starts is ended first.
TEST(Persistent, MoreStartsThanTagsTellApartAreUnderWayAtOnce) {
    constexpr int total = 2060;
    const OwnComm comm("flat");
    if (comm.size() > 3) GTEST_SKIP() << "more ranks add nothing but time";
    std::vector<std::unique_ptr<Tensor>> tensors;
    for (std::uint64_t i = 0; i < total; ++i)
        tensors.push_back(std::make_unique<Tensor>(comm, 3, i));
    for (const auto& tensor : tensors) ASSERT_EQ(GC_Start(&tensor->request), MPI_SUCCESS);
    std::vector<float> values(3, 1.0F);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 3, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<float>(3, static_cast<float>(comm.size())));
    for (std::size_t i = tensors.size(); i-- > 0;) {
        ASSERT_EQ(GC_Wait(&tensors[i]->request), MPI_SUCCESS);
        expect_near(tensors[i]->out, exact_sum(tensors[i]->in, comm), 1e-5);
    }
}

TEST(Residual, DamagedCheckpointsAreRefusedAndChangeNothing) {
    const OwnComm comm("flat");
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, 3000, MPI_FLOAT, &residual), MPI_SUCCESS);
    std::vector<float> values = floats<float>(comm.rank(), 3000);
    comm.set("gc_codec", "2:4");
    ASSERT_EQ(GC_Allreduce_residual(MPI_IN_PLACE, values.data(), 3000, MPI_FLOAT, MPI_SUM, comm,
                                    residual),
              MPI_SUCCESS);
    std::size_t size = 0;
    GC_Residual_size(residual, &size);
    std::vector<std::byte> good(size), after(size);
    ASSERT_EQ(GC_Residual_save(residual, good.data(), size), MPI_SUCCESS);
    EXPECT_EQ(class_of(GC_Residual_save(residual, good.data(), size - 1)), MPI_ERR_ARG);

    for (const std::size_t at :
         {std::size_t{0}, std::size_t{8}, std::size_t{16}, std::size_t{40}, size / 2, size - 1}) {
        std::vector<std::byte> bad = good;
        bad[at] ^= std::byte{1};
        EXPECT_EQ(class_of(GC_Residual_load(residual, bad.data(), size)), MPI_ERR_ARG) << at;
    }
    for (const std::size_t cut : {std::size_t{0}, std::size_t{20}, size - 8})
        EXPECT_EQ(class_of(GC_Residual_load(residual, good.data(), cut)), MPI_ERR_ARG) << cut;

    GC_Residual_save(residual, after.data(), size);
    EXPECT_EQ(after, good);
    EXPECT_EQ(GC_Residual_load(residual, good.data(), size), MPI_SUCCESS);
    EXPECT_EQ(GC_Residual_free(&residual), MPI_SUCCESS);
}

TEST(Residual, ScaleAndResetDoWhatTheySay) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is compressed";
    comm.set("gc_codec", "1:4");
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, 1024, MPI_FLOAT, &residual), MPI_SUCCESS);
    const std::vector<float> values = floats<float>(comm.rank(), 1024);
    std::vector<float> out(1024), zeros(1024);
    const auto reduce = [&](const std::vector<float>& in) {
        return GC_Allreduce_residual(in.data(), out.data(), 1024, MPI_FLOAT, MPI_SUM, comm,
                                     residual);
    };
    ASSERT_EQ(reduce(values), MPI_SUCCESS);
    ASSERT_EQ(GC_Residual_scale(residual, 2.0), MPI_SUCCESS);
    comm.set("gc_codec", "exact");
    const std::vector<float> first = out;
    ASSERT_EQ(reduce(zeros), MPI_SUCCESS);
    const std::vector<float> exact = exact_sum(values, comm);
    for (std::size_t i = 0; i < exact.size(); ++i)
        ASSERT_NEAR(first[i] + out[i] / 2, exact[i], 1e-4) << i;

    comm.set("gc_codec", "1:4");
    ASSERT_EQ(reduce(values), MPI_SUCCESS);
    ASSERT_EQ(GC_Residual_reset(residual), MPI_SUCCESS);
    ASSERT_EQ(reduce(zeros), MPI_SUCCESS);
    EXPECT_EQ(out, zeros);
    EXPECT_EQ(class_of(GC_Residual_scale(residual, std::nan(""))), MPI_ERR_ARG);
    EXPECT_EQ(GC_Residual_free(&residual), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
