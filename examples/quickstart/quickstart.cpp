// quickstart.cpp - sums a vector at every step through a persistent request, and compares with
// MPI_Allreduce. The request is planned once, and adds what a codec dropped in a step to the next.
//   mpicxx quickstart.cpp $(pkg-config --cflags --libs gradcoll) -o quickstart_cpp
//   mpirun -n 4 ./quickstart_cpp        exact sums
//   mpirun -n 4 ./quickstart_cpp 2:4    2 of 4 adjacent values travel; what is dropped comes later
#include <gradcoll/gradcoll.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

/// Info holds the keys of one request; it is freed when the request has been made.
class Info {
  public:
    Info() { MPI_Info_create(&info_); }
    ~Info() { MPI_Info_free(&info_); }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    void set(const char* key, const std::string& value) { MPI_Info_set(info_, key, value.c_str()); }
    MPI_Info get() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

struct FreeRequest {
    void operator()(GC_Request* request) const {
        GC_Request_free(request);
        delete request;
    }
};
using Request = std::unique_ptr<GC_Request, FreeRequest>;

/// Makes a request that sums `values` in place each time it is started.
Request make_request(std::vector<float>& values, const Info& info) {
    Request request(new GC_Request(GC_REQUEST_NULL));
    GC_Allreduce_init(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD, info.get(), request.get());
    return request;
}

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        error += std::pow(double{a[i]} - double{b[i]}, 2);
        norm += std::pow(double{b[i]}, 2);
    }
    return std::sqrt(error / norm);
}

double run(const std::string& codec) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Info info;
    info.set("gc_codec", codec);
    info.set("gc_compress_if", "always");  // on one host a codec takes longer than it saves

    // Every step sums the same gradient, so that after some steps nothing of what was dropped is
    // missing.
    std::vector<float> gradient(1 << 18);
    for (std::size_t i = 0; i < gradient.size(); ++i)
        gradient[i] = std::sin(static_cast<float>(i % 9973) + static_cast<float>(rank));
    std::vector<float> by_mpi(gradient.size());
    MPI_Allreduce(gradient.data(), by_mpi.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                  MPI_SUM, MPI_COMM_WORLD);

    constexpr int steps = 20;
    std::vector<float> sums(gradient.size());
    std::vector<float> mean(gradient.size());
    const Request request = make_request(sums, info);
    for (int step = 0; step < steps; ++step) {
        sums = gradient;
        GC_Start(request.get());
        GC_Wait(request.get());
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += sums[i] / steps;
    }
    const double once = relative_difference(sums, by_mpi);
    const double all = relative_difference(mean, by_mpi);
    if (rank == 0)
        std::printf("codec %s: the last sum differs by %.1e, the mean of %d by %.1e\n",
                    codec.c_str(), once, steps, all);
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    int threads = 0;  // persistent requests make progress on a thread of the library
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
    const double difference = run(argc > 1 ? argv[1] : "exact");
    MPI_Finalize();
    return difference < (argc > 1 ? 0.1 : 1e-6) ? 0 : 1;
}
