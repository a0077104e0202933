// tune/group.cpp - groups of ranks, and medians of their times.
#include <algorithm>
#include <chrono>
#include <thread>

#include "measures.hpp"

namespace gradcoll::tune {

Group::Group(MPI_Comm everybody, bool member) : everybody_(everybody) {
    PMPI_Comm_split(everybody, member ? 0 : MPI_UNDEFINED, 0, &comm_);
    const int one = member ? 1 : 0;
    PMPI_Allreduce(&one, &size_, 1, MPI_INT, MPI_SUM, everybody);
}

Group::~Group() {
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

void Group::run(const std::function<void()>& work) const {
    constexpr auto nap = std::chrono::milliseconds(1);
    PMPI_Barrier(everybody_);
    if (member()) work();
    MPI_Request all_done = MPI_REQUEST_NULL;
    PMPI_Ibarrier(everybody_, &all_done);
    for (int done = 0;;) {
        PMPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
        if (done != 0) return;
        std::this_thread::sleep_for(nap);
    }
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double median_us(MPI_Comm comm, double seconds, const std::function<void()>& work) {
    constexpr int repeats = 7;
    const auto timed = [&](int calls) {
        PMPI_Barrier(comm);
        const double begin = PMPI_Wtime();
        for (int call = 0; call < calls; ++call) work();
        double mine = (PMPI_Wtime() - begin) / calls;
        double slowest = mine;
        PMPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
        return slowest;
    };
    timed(1);  // pages, caches, connections
    const double once = std::max(timed(2), 1e-8);
    const int calls = std::clamp(static_cast<int>(seconds / repeats / once), 1, 20000);
    std::vector<double> times;
    for (int repeat = 0; repeat < repeats; ++repeat) times.push_back(timed(calls));
    return median(times) * 1e6;
}

std::vector<double> working_sets(std::size_t least, std::size_t most) {
    std::vector<double> sets;
    for (std::size_t bytes = least; bytes <= most; bytes *= 4)
        sets.push_back(static_cast<double>(bytes));
    return sets;
}

}  // namespace gradcoll::tune
