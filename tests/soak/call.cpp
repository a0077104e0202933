#include "soak/call.hpp"

#include <fmt/format.h>

#include <array>

namespace gradcoll::soak {
namespace {

constexpr std::array<const char*, 7> form_names{
    "GC_Allreduce", "GC_Allreduce_c", "GC_Allreduce_residual", "GC_Reduce_scatter_block",
    "GC_Allgather", "GC_Iallreduce",  "GC_Allreduce_init"};

Form rolled_form(Dice& dice, bool may_have_residual) {
    const std::size_t die = dice.below(100);
    if (die < 60) return Form::blocking;
    if (die < 65) return Form::counted_long;
    if (die < 70) return may_have_residual ? Form::with_residual : Form::blocking;
    if (die < 76) return Form::scatter;
    if (die < 82) return Form::gather;
    return die < 91 ? Form::nonblocking : Form::persistent;
}

/// Returns a random shift from 0 to 63 that keeps elements aligned.
std::size_t shift_for(const Kind& kind, Dice& own) {
    return own.below(64) / kind.element_bytes() * kind.element_bytes();
}

}  // namespace

CallRoll CallRoll::make(std::uint64_t number, bool lossy_codec, const Kinds& kinds, Dice& dice) {
    CallRoll roll;
    roll.number = number;
    roll.slot = dice.below(Comms::slots);
    // With a codec most calls allow one.
    do {
        roll.kind = dice.below(kinds.size());
    } while (lossy_codec && !kinds[roll.kind].is_floating_sum() && !dice.once_in(8));
    const Kind& kind = kinds[roll.kind];
    roll.form = rolled_form(dice, kind.is_floating_sum());
    roll.count = rolled_bytes(dice) / kind.element_bytes();
    if (roll.form == Form::scatter || roll.form == Form::gather) roll.count /= 4;
    // These elements pass to the MPI library, and MPICH's block collectives break them.
    if ((roll.form == Form::gather || roll.form == Form::scatter) && !kind.is_plain())
        roll.form = Form::blocking;
    roll.in_place = dice.once_in(3);
    roll.lossy_codec = lossy_codec;
    roll.key = dice.bits();
    return roll;
}

Call::Call(const CallRoll& roll, const Comm& comm, const Kind& kind, Dice& own)
    : roll_(roll), comm_(comm), kind_(kind) {
    const std::size_t bytes = kind.element_bytes();
    if (!roll_.in_place) input_ = GuardedBuffer(input_count() * bytes, shift_for(kind, own));
    output_ = GuardedBuffer(output_count() * bytes, shift_for(kind, own));
    fill();
}

Call::~Call() {
    if (persistent_ != GC_REQUEST_NULL) must(GC_Request_free(&persistent_), "GC_Request_free");
}

/// Returns the elements of the output. In place, scatter needs room for all blocks.
std::size_t Call::output_count() const {
    const bool all_blocks =
        roll_.form == Form::gather || (roll_.form == Form::scatter && roll_.in_place);
    return roll_.count * (all_blocks ? static_cast<std::size_t>(comm_.size()) : 1);
}

std::size_t Call::input_count() const {
    return roll_.count * (roll_.form == Form::scatter ? static_cast<std::size_t>(comm_.size()) : 1);
}

Section Call::input_section() const {
    return {roll_.key, 0, input_count()};
}

void Call::fill() {
    void* to = input_.data();
    if (roll_.in_place) {
        const bool own_block = roll_.form == Form::gather;
        const std::size_t skipped =
            own_block ? static_cast<std::size_t>(comm_.rank) * roll_.count : 0;
        to = static_cast<char*>(output_.data()) + skipped * kind_.element_bytes();
    }
    kind_.fill(to, input_section(), comm_.rank);
    input_hash_ = input_.hash();
}

std::string Call::describe() const {
    return fmt::format("call {}: {} of {} x {}{} on \"{}\" of {} ranks", roll_.number,
                       form_names[static_cast<std::size_t>(roll_.form)], roll_.count, kind_.name(),
                       roll_.in_place ? ", in place" : "", comm_.what, comm_.size());
}

void Call::start() {
    started_ = roll_.form == Form::nonblocking || roll_.form == Form::persistent;
    ++starts_;
    if (roll_.form == Form::persistent)
        start_persistent();
    else if (roll_.form == Form::nonblocking)
        must(GC_Iallreduce(send_buffer(), output_.data(), static_cast<int>(roll_.count),
                           kind_.type(), kind_.op(), comm_.handle, &request_),
             describe());
    else
        must(run_blocking(), describe());
}

int Call::run_blocking() {
    const int count = static_cast<int>(roll_.count);
    void* out = output_.data();
    switch (roll_.form) {
        case Form::scatter:
            return GC_Reduce_scatter_block(send_buffer(), out, count, kind_.type(), kind_.op(),
                                           comm_.handle);
        case Form::gather:
            return GC_Allgather(send_buffer(), count, kind_.type(), out, count, kind_.type(),
                                comm_.handle);
        case Form::counted_long:
            return GC_Allreduce_c(send_buffer(), out, count, kind_.type(), kind_.op(),
                                  comm_.handle);
        case Form::with_residual:
            return run_with_residual();
        default:
            return GC_Allreduce(send_buffer(), out, count, kind_.type(), kind_.op(), comm_.handle);
    }
}

int Call::run_with_residual() {
    const auto count = static_cast<MPI_Count>(roll_.count);
    GC_Residual residual = GC_RESIDUAL_NULL;
    must(GC_Residual_create(comm_.handle, count, kind_.type(), &residual), describe());
    const int code = GC_Allreduce_residual(send_buffer(), output_.data(), count, kind_.type(),
                                           kind_.op(), comm_.handle, residual);
    must(GC_Residual_free(&residual), describe());
    return code;
}

void Call::start_persistent() {
    if (persistent_ == GC_REQUEST_NULL)
        must(GC_Allreduce_init(send_buffer(), output_.data(), static_cast<MPI_Count>(roll_.count),
                               kind_.type(), kind_.op(), comm_.handle, MPI_INFO_NULL, &persistent_),
             describe());
    must(GC_Start(&persistent_), describe());
}

void Call::finish(bool by_test) {
    for (int done = 0; by_test && done == 0;)
        must(roll_.form == Form::persistent ? GC_Test(&persistent_, &done)
                                            : MPI_Test(&request_, &done, MPI_STATUS_IGNORE),
             describe());
    must(roll_.form == Form::persistent ? GC_Wait(&persistent_)
                                        : MPI_Wait(&request_, MPI_STATUS_IGNORE),
         describe());
    started_ = false;
}

void Call::renew(std::uint64_t number, std::uint64_t key) {
    roll_.number = number;
    roll_.key = key;
    fill();
}

std::uint64_t Call::hash() const {
    return roll_.form == Form::scatter ? 0 : output_.hash();
}

Loss Call::loss() const {
    const bool compressible =
        roll_.form == Form::gather ? kind_.is_floating() : kind_.is_floating_sum();
    if (!roll_.lossy_codec || !compressible) return Loss::none;
    return starts_ > 1 ? Loss::with_carry_over : Loss::thinned;
}

std::string Call::check() const {
    if (!output_.guards_hold()) return "bytes beside the output were written";
    if (!roll_.in_place && !input_.guards_hold()) return "bytes beside the input were written";
    if (!roll_.in_place && input_.hash() != input_hash_) return "the input was written";
    const bool is_mine = roll_.number % static_cast<std::uint64_t>(comm_.size()) ==
                         static_cast<std::uint64_t>(comm_.rank);
    return roll_.form == Form::scatter || is_mine ? check_output() : std::string();
}

std::string Call::check_output() const {
    const std::size_t own_block = static_cast<std::size_t>(comm_.rank) * roll_.count;
    if (roll_.form != Form::gather)
        return kind_.check(output_.data(),
                           {roll_.key, roll_.form == Form::scatter ? own_block : 0, roll_.count},
                           comm_.size(), loss());
    const char* block = static_cast<const char*>(output_.data());
    for (int rank = 0; rank < comm_.size(); ++rank) {
        std::string wrong = kind_.check_copy(block, input_section(), rank, loss());
        if (!wrong.empty()) return fmt::format("block of rank {}: {}", rank, wrong);
        block += roll_.count * kind_.element_bytes();
    }
    return {};
}

}  // namespace gradcoll::soak
