// osu-bench/ratio/packers.hpp - ways to pack a vector of fp32 with a bounded error.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

/// A Packer packs and unpacks in its own memory. Throws std::runtime_error if its library fails.
class Packer {
  public:
    Packer() = default;
    virtual ~Packer() = default;
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    virtual std::string_view name() const = 0;
    /// Returns the values packed with the tolerance `abs`; the packer owns the bytes.
    virtual std::span<const std::byte> pack(const std::vector<float>& values, double abs) = 0;
    /// Unpacks what was packed last.
    virtual void unpack(std::vector<float>& values) = 0;
    /// Returns whether its errors may be so far below the tolerance that it can be given a larger
    /// one.
    virtual bool is_cautious() const { return false; }
};

/// Makes a packer for the codec `bound`, on the best kernels of this CPU.
std::unique_ptr<Packer> bound_packer();
/// Makes a packer that packs the bytes of `bound` once more without loss.
std::unique_ptr<Packer> bound_and_zstd_packer();
/// Returns null if this build has none (libzfp).
std::unique_ptr<Packer> zfp_packer();

}  // namespace gradcoll::bench
