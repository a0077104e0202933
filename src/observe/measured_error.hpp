// observe/measured_error.hpp - what compression did to a sum: every so many compressed calls
// the exact sum is made, too, and compared (GC_REPORT=text,error=100).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/request.hpp"

namespace gradcoll {

/// Difference says how far a vector is from the exact one. Elements whose exact value the type has
/// no number for do not count.
struct Difference {
    double max_abs = 0;
    double relative_l2 = 0;  ///< length of the difference over that of the exact vector
};
/// Returns the difference, for floating-point types.
Difference difference_of(ElementType type, const void* result, std::span<const double> exact);

/// ErrorSampling says which compressed blocking allreduces of a communicator are measured: the
/// first, and then every so many.
class ErrorSampling {
  public:
    /// Makes it as error= in rank 0's GC_REPORT says, if that asks for a report there.
    /// Collective. Errors: transport.
    static Result<ErrorSampling> make(MPI_Comm comm);

    /// Returns whether the next call is measured; every rank asks once for each call.
    bool takes_next() { return period_ != 0 && calls_++ % period_ == 0; }

  private:
    std::uint64_t period_ = 0;  ///< 0: none
    std::uint64_t calls_ = 0;
};

/// Makes the sum in fp64 with the MPI library on `comm`, a private one, and tells the report how
/// far `result` is from it, and what was promised (0: nothing). Collective. `input` and `result`
/// are those of this rank, in host memory. Errors: those of MPI_Allreduce.
Status measure_error(MPI_Comm comm, const CallShape& shape, double promised, const std::byte* input,
                     const std::byte* result);

}  // namespace gradcoll
