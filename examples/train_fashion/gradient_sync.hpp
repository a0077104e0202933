// train_fashion/gradient_sync.hpp - sums gradients over the ranks: through Gradcoll, or through
// plain MPI_Allreduce as the peer that it is compared with.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlp.hpp"
#include "options.hpp"

namespace train {

/// A sum failed while training; other ranks may be waiting for this one.
class SyncError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The library refused what the user asked for, on all ranks alike.
class SettingsError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What this rank sent for its gradients since the start.
struct WireBytes {
    std::uint64_t sent = 0;
    std::uint64_t sent_exact = 0;  ///< what it would have sent without a codec
    std::uint64_t lossy_sums = 0;  ///< sums that were made with a lossy codec
};

/// Sums every parameter's gradient in place over all ranks. Each step: start() once for each
/// parameter, in the same order on all ranks, then finish(). Functions throw SyncError. Not thread
/// safe.
class GradientSync {
  public:
    virtual ~GradientSync() = default;
    GradientSync() = default;
    GradientSync(const GradientSync&) = delete;
    GradientSync& operator=(const GradientSync&) = delete;

    /// The gradient of parameter `index` is ready and belongs to the sum until finish().
    void start(std::size_t index);
    /// All started sums are complete.
    void finish();

    /// Spent in start() and finish(), waiting for slower ranks included.
    double seconds() const { return seconds_; }
    /// Nothing where the library does not count.
    virtual std::optional<WireBytes> wire_bytes() const = 0;

  private:
    virtual void do_start(std::size_t index) = 0;
    virtual void do_finish() = 0;

    double seconds_ = 0;
};

/// Sums with `options.codec` over `comm`, whose error handler must be MPI_ERRORS_RETURN.
/// Collective. Throws SettingsError. `parameters` must stay where they are and outlive the result,
/// which must go before `comm`.
std::unique_ptr<GradientSync> make_gradient_sync(std::vector<Parameter>& parameters,
                                                 const Options& options, MPI_Comm comm);

}  // namespace train
