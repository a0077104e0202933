// A C++ program that has no C: sums over its ranks, with what find_package brings.
#include <gradcoll/gradcoll.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::vector<int> mine(1000, rank + 1);
    std::vector<int> sums(mine.size());
    GC_Allreduce(mine.data(), sums.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const bool right = sums == std::vector<int>(mine.size(), ranks * (ranks + 1) / 2);
    if (!right) std::fprintf(stderr, "rank %d: wrong sums\n", rank);
    MPI_Finalize();
    return right ? 0 : 1;
}
