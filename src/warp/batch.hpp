// warp/batch.hpp - many jobs in one launch of a kernel. Host and device share the layout; the host
// part calls no device runtime, so that tests drive it with kernels of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace gradcoll {

/// A WarpJob is work that warps share: items are whole tiles first, then what is left in loose
/// pieces. Pointers that a kernel has no use for are null.
struct WarpJob {
    const std::byte* in = nullptr;
    const std::byte* base = nullptr;
    std::byte* residual = nullptr;
    std::byte* out = nullptr;
    std::uint32_t* invalid = nullptr;
    std::uint32_t seed = 0;   ///< seed of rounding by chance
    double abs = 0, rel = 0;  ///< what may be lost of an element
    std::byte* blocks =
        nullptr;  ///< table of blocks of variable rate: where each lies, and how long it is
    std::byte* to_blocks = nullptr;  ///< table of where they are moved to
    std::size_t blocks_at = 0;       ///< where in `out` the first is written
    std::size_t count = 0;           ///< elements
    std::size_t tiles = 0;           ///< tiles that go by vector instructions
    std::size_t items = 0;           ///< tiles and loose pieces
};

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned warps_per_cta = 8;
inline constexpr unsigned batch_jobs = 32;
/// A job gets no more blocks of threads; its warps then stride over the items.
inline constexpr std::size_t most_ctas = std::size_t{1} << 14;

/// A Batch travels by value in the parameters of a kernel.
struct Batch {
    WarpJob job[batch_jobs];
    std::uint32_t first_cta[batch_jobs + 1] = {};  ///< first of each job, and behind the last
    std::uint32_t jobs = 0;
};
static_assert(sizeof(Batch) <= 4096, "the parameters of a kernel have 4 KiB");

/// A BatchKernel is a kernel, and into what it cuts a job.
struct BatchKernel {
    /// Starts the kernel with this many blocks of threads on a stream. Returns null, or what went
    /// wrong, for people.
    const char* (*launch)(const Batch& batch, unsigned ctas, void* stream) = nullptr;
    std::size_t tile_elems = 0;
    std::size_t loose_elems = 0;
};

/// Cuts a job into tiles where its memory allows them, and the rest into loose pieces.
constexpr WarpJob cut_job(WarpJob job, const BatchKernel& kernel, bool tiled) {
    job.tiles = tiled ? job.count / kernel.tile_elems : 0;
    const std::size_t rest = job.count - job.tiles * kernel.tile_elems;
    job.items = job.tiles + rest / kernel.loose_elems + (rest % kernel.loose_elems != 0 ? 1 : 0);
    return job;
}

/// A BatchLauncher gathers jobs and launches them by batches. It allocates nothing unless a launch
/// fails.
class BatchLauncher {
  public:
    BatchLauncher(const BatchKernel& kernel, void* stream) : kernel_(kernel), stream_(stream) {}

    /// Adds a job. Errors: transport, if a full batch could not be launched.
    Status add(const WarpJob& cut);
    /// Launches what was added since the last batch. Errors: transport.
    Status flush();

  private:
    BatchKernel kernel_;
    void* stream_;
    Batch batch_;
};

}  // namespace gradcoll
