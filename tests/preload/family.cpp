// tests/preload/family.cpp - the allreduce family from C++ (through the C API), with nonblocking
// calls under MPI_THREAD_MULTIPLE. Argument: FOLDER.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "witness.h"

namespace {

template <class T>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<int>() {
    return MPI_INT;
}
template <>
MPI_Datatype type_of<std::uint64_t>() {
    return MPI_UINT64_T;
}
template <>
MPI_Datatype type_of<std::int16_t>() {
    return MPI_INT16_T;
}
template <>
MPI_Datatype type_of<float>() {
    return MPI_FLOAT;
}
template <>
MPI_Datatype type_of<double>() {
    return MPI_DOUBLE;
}
template <>
MPI_Datatype type_of<std::complex<double>>() {
    return MPI_C_DOUBLE_COMPLEX;
}

struct Comm {
    MPI_Comm handle = MPI_COMM_NULL;
    std::string name;
    int rank = 0;
    int size = 1;

    Comm(std::string called, MPI_Comm comm) : handle(comm), name(std::move(called)) {
        MPI_Comm_rank(handle, &rank);
        MPI_Comm_size(handle, &size);
    }
};

// Small whole numbers: every order of their sum gives the same bits in every type.
template <class T>
std::vector<T> numbers(std::size_t count, int rank, std::uint64_t seed) {
    std::vector<T> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<T>(static_cast<int>(scramble(seed, rank, i) % 1000));
    return out;
}

std::uint64_t next_seed() {
    static std::uint64_t seed = 1000;
    return ++seed;
}

template <class T>
void note(const char* call, const Comm& comm, const std::vector<T>& result) {
    witness("%s %zu elements of %zu bytes on %s: %016llx", call, result.size(), sizeof(T),
            comm.name.c_str(),
            static_cast<unsigned long long>(digest(result.data(), result.size() * sizeof(T))));
}

template <class T>
void blocking(const Comm& comm, std::size_t count, MPI_Op op) {
    const std::vector<T> in = numbers<T>(count, comm.rank, next_seed());
    std::vector<T> out(count);
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), type_of<T>(), op, comm.handle);
    note("MPI_Allreduce", comm, out);
    out = in;
    MPI_Allreduce(MPI_IN_PLACE, out.data(), static_cast<int>(count), type_of<T>(), op, comm.handle);
    note("MPI_Allreduce in place", comm, out);
}

template <class T>
void overlapped(const Comm& comm, std::size_t count, int calls) {
    std::vector<std::vector<T>> data;
    std::vector<MPI_Request> requests(static_cast<std::size_t>(calls), MPI_REQUEST_NULL);
    const std::vector<T> in = numbers<T>(count, comm.rank, next_seed());
    for (int k = 0; k < calls; ++k) data.push_back(k % 2 ? std::vector<T>(count) : in);
    for (int k = 0; k < calls; ++k) {
        const auto at = static_cast<std::size_t>(k);
        MPI_Iallreduce(k % 2 ? static_cast<const void*>(in.data()) : MPI_IN_PLACE, data[at].data(),
                       static_cast<int>(count), type_of<T>(), k % 3 ? MPI_SUM : MPI_MAX,
                       comm.handle, &requests[at]);
    }
    for (int left = calls; left > 0; --left) {
        int index = 0;
        MPI_Status status;
        MPI_Waitany(calls, requests.data(), &index, &status);
        if (index == MPI_UNDEFINED) witness("nothing to wait for, %d left", left);
    }
    for (const auto& result : data) note("MPI_Iallreduce", comm, result);
}

template <class T>
void halves(const Comm& comm, std::size_t block) {
    const auto size = static_cast<std::size_t>(comm.size);
    const std::vector<T> in = numbers<T>(block * size, comm.rank, next_seed());
    std::vector<T> out(block);
    MPI_Reduce_scatter_block(in.data(), out.data(), static_cast<int>(block), type_of<T>(), MPI_SUM,
                             comm.handle);
    note("MPI_Reduce_scatter_block", comm, out);
    std::vector<T> all(block * size);
    MPI_Allgather(out.data(), static_cast<int>(block), type_of<T>(), all.data(),
                  static_cast<int>(block), type_of<T>(), comm.handle);
    note("MPI_Allgather", comm, all);

    std::vector<int> counts(size, static_cast<int>(block));
    std::rotate(counts.begin(), counts.begin() + 1, counts.end());
    if (size > 1) {
        counts[0] += static_cast<int>(block / 3);
        counts[1] -= static_cast<int>(block / 3);
    }
    std::vector<T> share(static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank)]));
    MPI_Reduce_scatter(in.data(), share.data(), counts.data(), type_of<T>(), MPI_SUM, comm.handle);
    note("MPI_Reduce_scatter", comm, share);
}

// What a solver does: many small sums between large ones, each step from the one before.
void iterate(const Comm& comm) {
    constexpr std::size_t count = 40000;
    std::vector<double> x = numbers<double>(count, comm.rank, next_seed());
    for (int step = 0; step < 40; ++step) {
        double local = std::accumulate(x.begin(), x.end(), 0.0);
        double total = 0;
        MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, comm.handle);
        int largest = static_cast<int>(std::fmod(total, 97));
        MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, comm.handle);
        for (double& value : x) value = std::fmod(value + largest, 1024);
        if (step % 4 == 0)
            MPI_Allreduce(MPI_IN_PLACE, x.data(), count, MPI_DOUBLE, MPI_SUM, comm.handle);
    }
    note("iteration", comm, x);
}

void everything(const Comm& comm) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100},
                                    std::size_t{10007}, std::size_t{100000}}) {
        blocking<int>(comm, count, MPI_SUM);
        blocking<float>(comm, count, MPI_MAX);
        blocking<double>(comm, count, MPI_SUM);
        blocking<std::uint64_t>(comm, count, MPI_BXOR);
        blocking<std::int16_t>(comm, count, MPI_MIN);
        blocking<std::complex<double>>(comm, count, MPI_SUM);
        overlapped<double>(comm, count, 5);
        overlapped<int>(comm, count, 2);
        halves<float>(comm, count);
        halves<int>(comm, count / 10);
    }
    iterate(comm);
}

int run(const char* folder) {
    const Comm world("world", MPI_COMM_WORLD);
    witness_open(folder, world.rank);
    everything(world);

    MPI_Comm halved = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world.rank < world.size / 2, world.rank, &halved);
    everything(Comm("half", halved));
    MPI_Comm_free(&halved);
    witness_close();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    const int code = argc == 2 ? run(argv[1]) : 2;
    MPI_Finalize();
    return code;
}
