// tests/soak/comms.hpp - the communicators of the calls: several at once, of many shapes, freed and
// made again meanwhile.
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "soak/dice.hpp"

namespace gradcoll::soak {

/// A Comm is a communicator that this rank is in; where the world is split, other ranks are in
/// others.
struct Comm {
    MPI_Comm handle = MPI_COMM_NULL;
    std::string what;              ///< "world, backwards", and what was set
    int rank = 0;                  ///< rank of this process
    std::vector<int> world_ranks;  ///< by rank in it
    bool attached = false;         ///< by a GC_ call

    int size() const { return static_cast<int>(world_ranks.size()); }
};

/// Ends the program if an MPI call failed.
void must(int code, const std::string& what);
std::vector<std::string> exchange_names();
/// Returns what there is to know of a communicator. Collective.
Comm described(MPI_Comm handle, std::string what);
/// Sets an option, and adds it to `comm.what`. Collective.
void set_option(Comm& comm, const char* key, const std::string& value);

/// Counts are what the library counted on all communicators, the freed ones included.
struct Counts {
    unsigned long long tree = 0, compressed = 0, passed = 0;
};

class Comms {
  public:
    /// Makes the slots: slot 0 is MPI_COMM_WORLD, all others are remade now and then. `codec` is
    /// that of all.
    Comms(Dice& dice, std::string codec);
    ~Comms();
    Comms(const Comms&) = delete;
    Comms& operator=(const Comms&) = delete;

    static constexpr std::size_t slots = 6;
    Comm& operator[](std::size_t slot) { return comms_[slot]; }

    /// Frees the communicator in the slot (not 0) and makes another one there. Collective.
    void remake(std::size_t slot, Dice& dice);
    /// Sets other trees, exchanges, chunks, thresholds and checks. Collective.
    void set_anew(std::size_t slot, Dice& dice);
    Counts counts();

  private:
    void make(std::size_t slot, Dice& dice);
    void add_counts(const Comm& comm);

    std::string codec_;
    std::vector<std::string> exchanges_;
    std::array<Comm, slots> comms_;
    Counts freed_;
};

}  // namespace gradcoll::soak
