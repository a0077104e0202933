// gc_bench - the benchmarks by name.
#include "command_line/commands.hpp"

namespace {

constexpr const char* tests = "tests (GRADCOLL_TESTS)";

constexpr gradcoll::Command commands[] = {
    {"allreduce", "GC_Allreduce beside MPI_Allreduce, UCC or ZCCL, in turns"},
    {"engine", "a training step's gradients by an engine, beside blocking calls"},
    {"regret", "what the library chooses, beside the other ways that it has"},
    {"attach", "what finding the tree costs among ranks that are not there", tests},
    {"decisions", "how many gradients a second rank 0 of an engine lets begin", tests},
    {"gpu", "codec kernels on a GPU, beside a copy", "tests and CUDA (GRADCOLL_CUDA)"},
    {"kernels", "codec kernels of a CPU, beside memcpy", tests},
    {"lane", "the executor over the channels that ranks of one host have", tests},
    {"nic", "plans over NIC agents, beside MPI's messages", tests},
    {"ratio", "bits a value at an equal largest error", tests},
    {"reduce", "reduction kernels, beside a plain loop", tests},
};

constexpr gradcoll::Front front = {"gc_bench", "Measures Gradcoll and its parts.", commands};

int body(int argc, char** argv) {
    return run_command(front, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench", body, argc, argv);
}
