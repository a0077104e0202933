// main() of every multi-rank test: runs GoogleTest on all ranks in step, and fails on all ranks if
// it failed on one. GC_TEST_THREADS=multiple asks for MPI_THREAD_MULTIPLE; everything else runs
// with the level MPI gives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    const char* threads = std::getenv("GC_TEST_THREADS");
    const int wanted =
        threads && std::strcmp(threads, "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    testing::InitGoogleTest(&argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank !=
        0) {  // failures of other ranks are still printed by the assertions' own summary below
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        struct FailurePrinter : testing::EmptyTestEventListener {
            void OnTestPartResult(const testing::TestPartResult& r) override {
                if (r.failed())
                    std::fprintf(stderr, "%s:%d: %s\n", r.file_name(), r.line_number(),
                                 r.message());
            }
        };
        listeners.Append(new FailurePrinter);
    }
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
