#include "soak/comms.hpp"

#include <fmt/format.h>
#include <gradcoll.h>

#include <cstdio>
#include <utility>

namespace gradcoll::soak {
namespace {

struct Shape {
    const char* name;
    int (*colour)(int rank, int size);
    bool backwards;
};
constexpr int parts = 5;
constexpr std::array<Shape, parts> shapes{{
    {"all", [](int, int) { return 0; }, false},
    {"all, backwards", [](int, int) { return 0; }, true},
    {"even or odd ranks, backwards", [](int rank, int) { return rank % 2; }, true},
    {"the first third or the rest", [](int rank, int size) { return rank < size / 3 ? 0 : 1; },
     false},
    {"alone", [](int rank, int) { return rank; }, false},
}};

}  // namespace

void must(int code, const std::string& what) {
    if (code == MPI_SUCCESS) return;
    char text[GC_MAX_ERROR_STRING];
    GC_Error_string(code, text, nullptr);
    fmt::print(stderr, "soak: {} failed: {}\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

std::vector<std::string> exchange_names() {
    std::vector<std::string> names;
    int size = 0;
    must(GC_Get_list_size(GC_LIST_EXCHANGES, &size), "GC_Get_list_size");
    for (int i = 0; i < size; ++i) {
        GC_List_entry entry{};
        must(GC_Get_list_entry(GC_LIST_EXCHANGES, i, &entry), "GC_Get_list_entry");
        names.emplace_back(entry.name);
    }
    return names;
}

Comm described(MPI_Comm handle, std::string what) {
    Comm comm;
    comm.handle = handle;
    comm.what = std::move(what);
    int size = 0;
    MPI_Comm_rank(handle, &comm.rank);
    MPI_Comm_size(handle, &size);
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    comm.world_ranks.resize(static_cast<std::size_t>(size));
    MPI_Allgather(&world_rank, 1, MPI_INT, comm.world_ranks.data(), 1, MPI_INT, handle);
    return comm;
}

void set_option(Comm& comm, const char* key, const std::string& value) {
    must(GC_Comm_set_option(comm.handle, key, value.c_str()),
         fmt::format("{}={} on {}", key, value, comm.what));
    comm.what += fmt::format(", {}={}", key, value);
    comm.attached = true;
}

Comms::Comms(Dice& dice, std::string codec)
    : codec_(std::move(codec)), exchanges_(exchange_names()) {
    comms_[0] = described(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    set_anew(0, dice);
    for (std::size_t slot = 1; slot < slots; ++slot) make(slot, dice);
}

Comms::~Comms() {
    for (std::size_t slot = 1; slot < slots; ++slot) MPI_Comm_free(&comms_[slot].handle);
}

void Comms::make(std::size_t slot, Dice& dice) {
    // The first slots have fixed shapes, so that every run has all of them.
    const std::size_t which = slot < parts ? slot : dice.below(parts);
    const Shape& shape = shapes[which];
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm handle = MPI_COMM_NULL;
    must(MPI_Comm_split(MPI_COMM_WORLD, shape.colour(rank, size), shape.backwards ? -rank : rank,
                        &handle),
         "MPI_Comm_split");
    MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
    comms_[slot] = described(handle, shape.name);
    if (!dice.once_in(4)) set_anew(slot, dice);
}

void Comms::remake(std::size_t slot, Dice& dice) {
    Comm& comm = comms_[slot];
    add_counts(comm);
    must(MPI_Comm_free(&comm.handle), "MPI_Comm_free");
    make(slot, dice);
}

void Comms::set_anew(std::size_t slot, Dice& dice) {
    Comm& comm = comms_[slot];
    comm.what = comm.what.substr(0, comm.what.find(", gc_"));
    Dice of_group(dice.bits() + static_cast<std::uint64_t>(comm.world_ranks.front()));
    set_option(comm, "gc_topology", rolled_tree(of_group, comms_[0].size()));
    set_option(comm, "gc_exchange", of_group.any_of(exchanges_));
    static const std::vector<std::string> chunks{"auto", "0", "1K", "8K", "64K"};
    set_option(comm, "gc_chunk_bytes", of_group.any_of(chunks));
    set_option(comm, "gc_chunks_in_flight", std::to_string(1 + of_group.below(16)));
    static const std::vector<std::string> shortest{"0", "0", "0", "4K", "256K"};
    set_option(comm, "gc_tree_min_bytes", of_group.any_of(shortest));
    static const std::vector<std::string> checks{"off", "off", "off",       "off",
                                                 "off", "sum", "local+sum", "collective"};
    set_option(comm, "gc_check", of_group.any_of(checks));
    set_option(comm, "gc_fault", of_group.once_in(4) ? "survive" : "report");
    if (codec_ == "exact") return;
    set_option(comm, "gc_codec", codec_);
    set_option(comm, "gc_compress_bytes", of_group.once_in(2) ? "0" : "2K");
}

void Comms::add_counts(const Comm& comm) {
    if (!comm.attached) return;
    GC_Stats stats{};
    must(GC_Comm_get_stats(comm.handle, &stats), "GC_Comm_get_stats");
    freed_.tree += stats.calls_tree;
    freed_.compressed += stats.calls_compressed;
    freed_.passed += stats.calls_passed;
}

Counts Comms::counts() {
    const Counts before = freed_;
    for (const Comm& comm : comms_) add_counts(comm);
    return std::exchange(freed_, before);
}

}  // namespace gradcoll::soak
