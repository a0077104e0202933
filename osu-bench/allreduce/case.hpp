// case.hpp - the communicator under test: Gradcoll with one codec and the settings of the command
// line; and one size of one codec: measured together with its peer, and checked.
#pragma once

#include <gradcoll/gradcoll.h>

#include <cstddef>
#include <span>
#include <string>

#include "memory.hpp"
#include "options.hpp"
#include "peers/peer.hpp"
#include "row.hpp"

namespace gradcoll::bench {

/// A Subject owns a duplicate of MPI_COMM_WORLD. Making and destroying it is collective. Throws
/// std::invalid_argument with the library's message, on every rank, if a setting is refused.
class Subject {
  public:
    Subject(const Options& options, std::string codec);
    ~Subject();
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    MPI_Comm comm() const { return comm_; }
    const std::string& codec() const { return codec_; }
    std::string tree(GC_Tree_format format) const;

  private:
    void apply(const Options& options);

    std::string codec_;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Ends the job with the library's message if `code` is an error. It is for calls that must not
/// fail once the settings are accepted.
void require_success(int code, const char* call);

/// A Contest says who takes turns, and on what data.
struct Contest {
    const Options& options;
    const Subject& subject;
    Peer& peer;
    Memory& memory;
    std::span<const std::byte> input;  ///< in host memory, as long as the largest size
    const void* input_there;           ///< the same in `memory`
};

/// Measures one size. Collective; the same row on every rank. The peer runs on MPI_COMM_WORLD.
Row measure(const Contest& contest, std::size_t size_bytes);

}  // namespace gradcoll::bench
