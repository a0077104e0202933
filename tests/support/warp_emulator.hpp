// tests/support/warp_emulator.hpp - a GPU's warp on the CPU: 32 lanes, each a fiber of its own that
// runs the very functions that the GPU runs, and waits for the others at each shuffle and ballot.
//
// What a GPU would punish silently is an error here: a lane that ends or goes elsewhere while
// others wait for it, and loads and stores that are not aligned. One warp at a time, on one thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

#include "reduce/half.hpp"
#include "warp/batch.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll::test {

enum class Meeting : std::uint8_t { shuffle, ballot };

/// Runs `lane_code` on 32 lanes to its end. Empty if all went well, else what went wrong; the lanes
/// then stay where they were.
std::string run_warp(const std::function<void()>& lane_code);

/// EmulatedWarp is what the lanes' code calls (src/warp/README.md).
class EmulatedWarp {
  public:
    static unsigned lane();

    template <class T>
    static T shuffle(T value, unsigned from) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8);
        return static_cast<T>(meet(Meeting::shuffle, static_cast<std::uint64_t>(value))[from % 32]);
    }
    static std::uint32_t ballot(bool flag);
    static unsigned ones(std::uint32_t word) {
        return static_cast<unsigned>(__builtin_popcount(word));
    }

    template <class T>
    static T load(const std::byte* from) {
        static_assert(std::is_trivially_copyable_v<T>);
        expect_aligned(from, sizeof(T));
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    template <class T>
    static void store(std::byte* to, const T& value) {
        expect_aligned(to, sizeof(T));
        std::memcpy(to, &value, sizeof value);
    }

    static float widen_f16(std::uint16_t bits) { return float_from_f16(bits); }
    static std::uint16_t narrow_f16(float value) { return f16_from_float(value); }

  private:
    /// Waits until all lanes are here, and returns what each of them brought.
    static const std::uint64_t* meet(Meeting kind, std::uint64_t mine);
    static void expect_aligned(const void* at, std::size_t alignment);
};

/// OnEmulatedWarps makes kernels on emulated warps; the tables of kernels are templates over it.
/// The first error of a warp is the error of the launch.
struct OnEmulatedWarps {
    template <class Job>
    static BatchKernel kernel() {
        return {launch<Job>, Job::tile_elems, Job::loose_elems};
    }

  private:
    template <class Job>
    static const char* launch(const Batch& batch, unsigned ctas, void*) {
        static std::string error;
        for (unsigned cta = 0; cta < ctas; ++cta)
            for (unsigned warp = 0; warp < warps_per_cta; ++warp) {
                const WarpShare share = share_of(batch, cta, warp);
                if (share.first >= batch.job[share.job].items) continue;  // it would end at once
                error = run_warp([&] { run_batch<EmulatedWarp, Job>(batch, cta, warp); });
                if (!error.empty()) return error.c_str();
            }
        return nullptr;
    }
};

}  // namespace gradcoll::test
