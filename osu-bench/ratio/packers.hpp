// osu-bench/ratio/packers.hpp - ways to pack a vector of fp32 with an error that is bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

/// Packs and unpacks with room of its own. Throws std::runtime_error if its library fails.
class Packer {
  public:
    Packer() = default;
    virtual ~Packer() = default;
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    virtual std::string_view name() const = 0;
    /// `abs`: what the packer is told. Returns the packed bytes, which stay in it.
    virtual std::span<const std::byte> pack(const std::vector<float>& values, double abs) = 0;
    /// What was packed last.
    virtual void unpack(std::vector<float>& values) = 0;
    /// Whether its errors may be so far below what it is told that it can be told more.
    virtual bool is_cautious() const { return false; }
};

/// The codec `bound`, on the best kernels of this CPU.
std::unique_ptr<Packer> bound_packer();
/// Its bytes, packed once more without loss.
std::unique_ptr<Packer> bound_and_zstd_packer();
/// Null if this build has none (libzfp).
std::unique_ptr<Packer> zfp_packer();

}  // namespace gradcoll::bench
