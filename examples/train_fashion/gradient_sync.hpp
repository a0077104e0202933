// train_fashion/gradient_sync.hpp - sums gradients over the ranks: through Gradcoll, or through
// plain MPI_Allreduce, the peer that it is compared with.
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

/// SyncError says that a sum failed while training; other ranks may be waiting for this one.
class SyncError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// SettingsError says that the library refused what the user asked for, on all ranks alike.
class SettingsError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws SyncError, naming `what`, if a call of Gradcoll returned an error.
void check_gc(int code, const std::string& what);

/// WireBytes counts what this rank sent for its gradients since the start.
struct WireBytes {
    std::uint64_t sent = 0;
    std::uint64_t sent_exact = 0;  ///< what it would have sent without a codec
    std::uint64_t lossy_sums = 0;  ///< sums that were made with a lossy codec
};

/// GradientSync sums every parameter's gradient in place over all ranks. Each step calls start()
/// once for each parameter, in the same order on all ranks, then finish(). Functions throw
/// SyncError. Not thread safe.
class GradientSync {
  public:
    virtual ~GradientSync() = default;
    GradientSync() = default;
    GradientSync(const GradientSync&) = delete;
    GradientSync& operator=(const GradientSync&) = delete;

    /// Starts the sum of the gradient of parameter `index`, which belongs to the sum until
    /// finish().
    void start(std::size_t index);
    /// Waits until all started sums are complete.
    void finish();

    /// Returns the time spent in start() and finish(), including waits for slower ranks.
    double seconds() const { return seconds_; }
    /// Gives up what is started and goes on with the ranks of `comm`, by an engine only.
    virtual void go_on(MPI_Comm comm);
    /// Returns nothing if the library does not count.
    virtual std::optional<WireBytes> wire_bytes() const = 0;

  private:
    virtual void do_start(std::size_t index) = 0;
    virtual void do_finish() = 0;

    double seconds_ = 0;
};

/// Makes a sum with `options.codec` over `comm`, whose error handler must be MPI_ERRORS_RETURN.
/// Collective. Throws SettingsError. `parameters` must not move and must outlive the result, which
/// must be destroyed before `comm`.
std::unique_ptr<GradientSync> make_gradient_sync(std::vector<Parameter>& parameters,
                                                 const Options& options, MPI_Comm comm);

}  // namespace train
