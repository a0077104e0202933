// ways/tree/residual.hpp - what one rank's encoders dropped for one tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/device_area.hpp"
#include "ways/tree/planned_call.hpp"

namespace gradcoll {

/// ResidualIdentity is what a residual belongs to. It is equal on all ranks but for the rank and
/// the layout.
struct ResidualIdentity {
    std::uint64_t count = 0;
    ElementType type = ElementType::f32;
    std::uint64_t tree_hash = 0;
    std::uint64_t rank = 0;
    std::uint64_t layout = 0;  ///< hash of the encoded ranges, in the order of the plan
    std::uint64_t elems = 0;   ///< number of values kept
};

/// Residual holds the values that were dropped, in the layout of the feedback plan or one for each
/// element: fp32, or fp64 for fp64 elements. Not thread safe.
class Residual {
  public:
    explicit Residual(const ResidualIdentity& identity);

    const ResidualIdentity& identity() const { return identity_; }
    /// Returns the values in memory where an operation on `side` (null: on host memory) reads and
    /// updates them. They stay there until another call wants them elsewhere. Errors: those of
    /// devices.
    Result<void*> data_for(const std::shared_ptr<DeviceSide>& side);

    /// Verifies that the values are those of this plan. Errors: invalid_argument naming what
    /// differs.
    Status check_fits(const PlannedCall& call) const;
    /// Verifies that the values have this count, type and layout. Errors: as above.
    Status check_fits(const ResidualIdentity& wanted) const;

    /// Says what the values belong to from now on, which they fit.
    void belong_to(const ResidualIdentity& identity) { identity_ = identity; }
    /// Returns whether there is one value for each element.
    bool is_by_element() const;
    /// Returns a residual with one value for each element, each what this one has of it. `plan` is
    /// the one whose residual this is. Errors: those of devices.
    Result<std::shared_ptr<Residual>> by_element(const Plan& plan,
                                                 const ResidualIdentity& identity);

    /// Multiplies all values. Errors: invalid_argument if the factor is not finite; those of
    /// devices.
    Status scale(double factor);
    void reset();
    /// Adds every value to the element of `vector` that it was dropped from, and keeps none, so
    /// that this rank can go on without the residual. `plan` is the one whose residual it is.
    /// Values are rounded to the type. Errors: those of devices.
    Status hand_over(const Plan& plan, void* vector);
    /// Does the same with a residual that has one value for each element.
    Status hand_over(void* vector);

    /// Returns the size of the checkpoint. It is little endian: eight 64-bit words (magic
    /// "GCCRES01", version 1, count, element type, hash of the tree, rank, hash of the layout,
    /// number of values), the values as they are in memory, and the FNV-1a hash of all before it.
    std::size_t checkpoint_bytes() const;
    Status save(std::byte* out);
    /// Reads a checkpoint; `bytes` is untrusted. Errors: invalid_argument naming what differs;
    /// nothing is changed then.
    Status load(const std::byte* bytes, std::size_t size_bytes);

  private:
    Status bring_home();

    ResidualIdentity identity_;
    std::vector<std::byte> values_;
    std::shared_ptr<DeviceSide> side_;  ///< where the values are now; null: in values_
    DeviceArea values_dev_;             ///< used if side_ is not null
};

/// Returns the identity of a residual with one value for each element, and room for zeros up to a
/// multiple of lossy_block_elems, whatever the plans that it is used with.
ResidualIdentity identity_by_element(std::int64_t count, ElementType type, const Tree& tree,
                                     int rank);
ResidualIdentity identity_of(const PlannedCall& call, const Tree& tree, int rank);

}  // namespace gradcoll
