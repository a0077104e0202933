#include "comm/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/hash.hpp"
#include "base/mpi/exchange.hpp"
#include "mpi/boundary.hpp"

namespace gradcoll {
namespace {

std::vector<std::uint64_t> hashes_of(const std::vector<Claim>& claims) {
    std::vector<std::uint64_t> hashes;
    for (const Claim& claim : claims) hashes.push_back(Hash().text(claim.text).digest());
    return hashes;
}

/// Returns the place of the first claim that is not the same on all ranks; nothing if all are. It
/// compares the smallest hash of a claim over all ranks with (by its complement) the largest.
Result<std::optional<std::size_t>> first_difference(MPI_Comm comm,
                                                    const std::vector<std::uint64_t>& hashes) {
    std::vector<std::uint64_t> bounds;
    for (const std::uint64_t hash : hashes) {
        bounds.push_back(hash);
        bounds.push_back(~hash);
    }
    GRADCOLL_TRY(combine(comm, MPI_MIN, std::span(bounds)));
    for (std::size_t i = 0; i < hashes.size(); ++i)
        if (bounds[2 * i] != ~bounds[2 * i + 1]) return std::optional(i);
    return std::optional<std::size_t>();
}

/// Returns the ranks whose hash is not rank 0's, ascending; the same on every rank.
Result<std::vector<int>> ranks_unlike_rank_0(MPI_Comm comm, std::uint64_t hash) {
    const auto all = GRADCOLL_VALUE(gathered(comm, hash));
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank] != all.front()) ranks.push_back(static_cast<int>(rank));
    return ranks;
}

/// Returns the text of `root`, cut to what a message should quote.
Result<std::string> text_of_rank(MPI_Comm comm, int root, const std::string& mine) {
    char text[128] = {};
    mine.copy(text, sizeof text - 1);
    GRADCOLL_TRY(broadcast(comm, text, root));
    return std::string(text);
}

std::string list_of(const std::vector<int>& ranks) {
    constexpr std::size_t shown = 8;
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(shown, ranks.size()));
    std::string text = fmt::format("{}", fmt::join(ranks.begin(), end, ", "));
    if (ranks.size() > shown) text += fmt::format(" and {} more", ranks.size() - shown);
    return text;
}

Result<std::string> describe_difference(MPI_Comm comm, const Claim& claim, std::uint64_t hash) {
    const auto ranks = ranks_unlike_rank_0(comm, hash);
    if (!ranks) return ranks.status();
    const auto first = text_of_rank(comm, 0, claim.text);
    if (!first) return first.status();
    const auto other = text_of_rank(comm, ranks->front(), claim.text);
    if (!other) return other.status();
    return fmt::format(
        "{} must be the same on all ranks: rank 0 has '{}', rank {} has '{}' (unlike rank 0: {} "
        "{})",
        claim.name, *first, ranks->front(), *other, ranks->size() == 1 ? "rank" : "ranks",
        list_of(*ranks));
}

Status status_of(const std::function<Status()>& work) try { return work(); } catch (...) {
    return status_of_current_exception();
}

/// Returns ok if all ranks are ok. If this rank is ok and another is not, it returns `others`.
Status ok_on_all(MPI_Comm comm, const Status& mine, const Status& others) {
    const bool all_good = GRADCOLL_VALUE(all_ranks(comm, mine.ok()));
    return all_good || !mine.ok() ? mine : others;
}

}  // namespace

Status agree_on(MPI_Comm comm, const std::vector<Claim>& claims) {
    const auto difference = GRADCOLL_VALUE(difference_in(comm, claims));
    return difference ? Status(Code::invalid_argument, difference->message) : Status();
}

Result<std::optional<ClaimDifference>> difference_in(MPI_Comm comm,
                                                     const std::vector<Claim>& claims) {
    const std::vector<std::uint64_t> hashes = hashes_of(claims);
    const auto different = GRADCOLL_VALUE(first_difference(comm, hashes));
    if (!different) return std::optional<ClaimDifference>();
    const std::size_t i = *different;
    return std::optional(
        ClaimDifference{i, GRADCOLL_VALUE(describe_difference(comm, claims[i], hashes[i]))});
}

Status agreed(MPI_Comm comm, const Status& mine) {
    return ok_on_all(comm, mine, Status(Code::io, "another rank could not"));
}

Status done_on_all(MPI_Comm comm, std::string_view what, const std::function<Status()>& work) {
    return ok_on_all(comm, status_of(work),
                     Status(Code::peer_failed, fmt::format("another rank could not {}", what)));
}

}  // namespace gradcoll
