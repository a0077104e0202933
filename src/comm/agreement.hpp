// comm/agreement.hpp - whether all ranks of a communicator say the same, and who does not.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// A Claim is something that should be the same on all ranks.
struct Claim {
    std::string_view name;  ///< name for the message: "setting gc_codec", "count"
    std::string text;
};

/// Compares the claims of all ranks, with one small allreduce if all agree. Collective over `comm`
/// (with MPI_ERRORS_RETURN); all ranks pass the same number of claims in the same order. Errors,
/// the same on every rank: invalid_argument, naming the first claim that differs, the values of
/// rank 0 and of the first rank that differs from it, and which ranks do; transport.
Status agree_on(MPI_Comm comm, const std::vector<Claim>& claims);

/// A ClaimDifference is a claim on which ranks differ: its place among all, and what agree_on()
/// says of it.
struct ClaimDifference {
    std::size_t claim = 0;
    std::string message;
};
/// Returns the first difference, if there is any; the same on every rank. Collective. Errors:
/// transport.
Result<std::optional<ClaimDifference>> difference_in(MPI_Comm comm,
                                                     const std::vector<Claim>& claims);

/// Returns ok on all ranks, or on none: ranks where `mine` is ok get io. Collective. Errors:
/// transport.
Status agreed(MPI_Comm comm, const Status& mine);
/// Does `work` on all ranks, or counts it as done on none. What it throws is a failure, too. Where
/// it went well the others' failure is peer_failed: "another rank could not" and `what`.
/// Collective. Errors: those of `work`; transport.
Status done_on_all(MPI_Comm comm, std::string_view what, const std::function<Status()>& work);

}  // namespace gradcoll
