#include "runtime/outcome_rounds.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/crc32c.hpp"

namespace gradcoll {
namespace {

constexpr std::uint32_t of_send = 0;
constexpr std::uint32_t of_receive = 1;

}  // namespace

void OutcomeRounds::renew(bool needed) {
    distance_ = needed ? 1 : rank_count_;
    under_way_ = 0;
}

void OutcomeRounds::give_up(bool again) {
    if (again)
        distance_ = rank_count_;
    else if (under_way_ > 0)
        distance_ *= 2;
    under_way_ = 0;
}

Status OutcomeRounds::begin_round(Operation& operation) {
    const ResultCheck* const check = operation.binding.check;
    if (distance_ == 1 && check != nullptr && !operation.failed())
        if (Status status = check->check(); !status.ok()) operation.fail(std::move(status));
    const FailureNotice notice =
        operation.failed() ? operation.notice : FailureNotice({Failure::nobody_known, Code::ok});
    for (Said& said : said_) {
        std::memcpy(said.notice.data(), notice.data(), said.notice.size());
        said.checksum = ~crc32c(~0U, said.notice);
    }
    const int tag =
        operation.tags.base(operation.binding.sequence, 0) + operation.tags.outcome_stage();
    const int to = (rank_ + distance_) % rank_count_;
    const int from = (rank_ - distance_ + rank_count_) % rank_count_;
    GRADCOLL_TRY(operation.lane.start_send(to, tag, said_.data(), sizeof said_, of_send));
    ++under_way_;
    if (operation.given_up) return {};
    GRADCOLL_TRY(operation.lane.start_recv(from, tag, heard_.data(), sizeof heard_, of_receive));
    ++under_way_;
    return {};
}

/// Returns what the first copy says that came as it was sent.
std::optional<Failure> OutcomeRounds::understood(const Completion& done) const {
    if (!done.status.ok() || done.received_bytes != sizeof heard_) return std::nullopt;
    for (const Said& copy : heard_)
        if (copy.checksum == ~crc32c(~0U, copy.notice))
            return FailureNotice::at(copy.notice.data());
    return std::nullopt;
}

void OutcomeRounds::hear(const Completion& done, Operation& operation) const {
    const std::optional<Failure> heard = understood(done);
    if (!heard)
        operation.fail({Code::corrupt,
                        fmt::format("message from rank {} at the end: what it says of the outcome "
                                    "came damaged",
                                    (rank_ - distance_ + rank_count_) % rank_count_)});
    else if (heard->code != Code::ok)
        operation.fail(told(*heard), *heard);
}

Result<bool> OutcomeRounds::advance(Operation& operation) {
    const bool begins = under_way_ == 0;
    if (begins) GRADCOLL_TRY(begin_round(operation));
    std::array<Completion, most_messages> ended;
    const std::size_t count = GRADCOLL_VALUE(operation.lane.poll(ended));
    for (std::size_t i = 0; i < count; ++i) {
        if (ended[i].status.code() == Code::transport) return std::move(ended[i].status);
        if (ended[i].cookie == of_receive) hear(ended[i], operation);
        --under_way_;
    }
    if (under_way_ == 0) distance_ *= 2;
    return begins || count > 0;
}

}  // namespace gradcoll
