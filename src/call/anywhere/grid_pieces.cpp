#include "call/anywhere/grid_pieces.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "base/round.hpp"
#include "call/anywhere/grid_run.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// So many pieces are on their way at once.
constexpr std::size_t most_under_way = 3;

/// Returns how many elements a piece has. Its words fit the caches, and pieces are so many that the
/// first and the last, beside which nothing is on the wire, take little.
std::size_t piece_elems_of(std::size_t count) {
    constexpr std::size_t least = std::size_t{1} << 18;
    constexpr std::size_t most = std::size_t{1} << 19;
    return std::clamp(rounded_up(count / 8, std::size_t{1} << 13), least, most);
}

/// A Piece is a part of the vector on its way.
class Piece {
  public:
    /// Begins it; an error is told by finish(), so that every begin() has one.
    void begin(CommContext& context, const CallShape& shape, const Binding& binding) {
        status_ = start(context, shape, binding);
        is_over_ = !status_.ok();
    }
    /// Does what it can; returns whether that was something.
    bool advance() {
        if (is_over_) return false;
        const Result<Progress> progress = run_.advance();
        if (progress.ok() && *progress != Progress::complete)
            return *progress == Progress::advanced;
        status_ = progress.status();
        is_over_ = true;
        return true;
    }
    bool is_over() const { return is_over_; }
    void rest() { run_.rest(); }

    /// Gives back what it has used, once it is over, and adds what was sent to `record`.
    Status finish(CallRecord& record) {
        for (Lease* const lease : {&tops_, &words_, &specials_}) {
            if (lease->executor == nullptr) continue;
            const RunStats& after = lease->executor->stats();
            add_messages(lease->before, after, record);
            record.wire_ns += after.wait_ns - lease->before.wait_ns;
            if (status_.ok()) lease->call->give_back(std::move(lease->executor), /*waited=*/false);
            *lease = {};
        }
        return std::exchange(status_, Status());
    }

  private:
    Status start(CommContext& context, const CallShape& shape, Binding binding) {
        CommPlans& plans = context.plans();
        const GridRun::Keys keys =
            GridRun::keys_of(shape.type, shape.count, context.settings().current());
        GRADCOLL_TRY(take(words_, plans.begin(CallKind::allreduce, keys.words, {})));
        GRADCOLL_TRY(take(tops_, plans.begin(CallKind::allreduce, keys.tops, {})));
        GRADCOLL_TRY(take(specials_, plans.begin(CallKind::allreduce, keys.specials, {})));
        OperationNumber number = plans.numbers().take();
        binding.sequence = number.value();
        return run_.start({tops_.executor.get(), words_.executor.get(), specials_.executor.get()},
                          shape, binding, plans.scratch(), std::move(number));
    }

    Lease tops_, words_, specials_;
    GridRun run_;
    Status status_;
    bool is_over_ = true;
};

/// PiecesUnderWay are the pieces of one vector, of which the oldest is waited for.
class PiecesUnderWay {
  public:
    PiecesUnderWay(CommContext& context, CallRecord& record) : context_(context), record_(record) {}

    Piece& next() { return pieces_[begun_++ % most_under_way]; }
    bool is_full() const { return begun_ - finished_ == most_under_way; }
    bool is_empty() const { return begun_ == finished_; }

    Status finish_oldest() {
        constexpr int idle_turns_before_rest = 200;
        int idle_turns = context_.identity().yields() ? idle_turns_before_rest : 0;
        const int idle_start = idle_turns;
        Piece& oldest = pieces_[finished_++ % most_under_way];
        while (!oldest.is_over()) {
            if (advance() || advance_started_calls())
                idle_turns = idle_start;
            else if (++idle_turns > idle_turns_before_rest)
                oldest.rest();  // messages for the others wake it, too
        }
        return oldest.finish(record_);
    }

  private:
    bool advance() {
        bool advanced = false;
        for (Piece& piece : pieces_) advanced |= piece.advance();
        return advanced;
    }

    CommContext& context_;
    CallRecord& record_;
    std::array<Piece, most_under_way> pieces_;
    std::size_t begun_ = 0, finished_ = 0;
};

}  // namespace

bool goes_in_pieces(const CallShape& shape) {
    const auto count = static_cast<std::size_t>(shape.count);
    return count > piece_elems_of(count);
}

/// All ranks begin all pieces, whatever fails, so that none waits for another.
Status sum_in_pieces(CommContext& context, const CallShape& shape, const Binding& binding) {
    CallRecord record;
    const std::uint64_t begin_ns = context.statistics().is_observed() ? now_ns() : 0;
    PiecesUnderWay under_way(context, record);
    Status status;
    const auto note = [&](const Status& of_piece) {
        if (status.ok()) status = of_piece;
    };
    const auto count = static_cast<std::size_t>(shape.count);
    const std::size_t piece_elems = piece_elems_of(count);
    for (std::size_t first = 0; first < count; first += piece_elems) {
        if (under_way.is_full()) note(under_way.finish_oldest());
        CallShape piece = shape;
        piece.count = static_cast<std::int64_t>(std::min(piece_elems, count - first));
        Binding part = binding;
        part.input = static_cast<const std::byte*>(binding.input) + first * shape.elem_bytes;
        part.output = static_cast<std::byte*>(binding.output) + first * shape.elem_bytes;
        under_way.next().begin(context, piece, part);
    }
    while (!under_way.is_empty()) note(under_way.finish_oldest());
    GRADCOLL_TRY(status);
    record.bytes = record.bytes_sent_exact = shape.size_bytes();
    if (begin_ns != 0) record.total_ns = now_ns() - begin_ns;
    context.statistics().count_served(record);
    return {};
}

}  // namespace gradcoll
