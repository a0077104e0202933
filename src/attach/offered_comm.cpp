#include "attach/offered_comm.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "attach/attachments.hpp"
#include "attach/comm_info.hpp"
#include "attach/presence.hpp"
#include "attach/wait_meeting.hpp"
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "comm/unused_codec.hpp"
#include "device/devices.hpp"
#include "settings/info_keys.hpp"
#include "settings/settings.hpp"
#include "ways/one_host/one_host.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

/// Returns whether the call would be served over the tree under the settings of the process.
bool is_for_tree(const OfferedSize& size) {
    const Settings& settings = process_settings();
    if (size.is_compared || size.needs_one_host) return size.is_compared;
    return size.bytes >= settings.tree_min_bytes ||
           (size.may_be_lossy && size.bytes >= settings.min_bytes);
}

/// Attaches, with what its settings need. Info that MPI keeps is not asked for: keys come by
/// take_new_info(), which is alike with all MPI libraries.
Result<std::shared_ptr<CommContext>> attach_for_use(MPI_Comm comm, Parts parts,
                                                    PrivateComm own = {}) {
    auto context = attach_without_info(comm, parts, std::move(own));
    if (!context || *context == nullptr) return context;
    const bool memory_serves_this =
        (*context)->one_host().may_open() ||
        ((*context)->several_hosts().may_open() && parts == Parts::without_tree);
    if (!memory_serves_this || (*context)->settings().current().ever_lossy())
        GRADCOLL_TRY((*context)->prepare_tree());
    return context;
}

/// Returns the context, or tells why there is none. A failure is the same on every rank: it is said
/// once and remembered, so that nobody tries again.
OfferedComm or_refused(MPI_Comm comm, Result<std::shared_ptr<CommContext>> context) {
    if (context) return {std::move(context).value()};
    codec_is_excused();
    const int rank = comm_rank(comm);
    log(rank == 0 ? LogLevel::warn : LogLevel::debug,
        "calls on communicator '{}' pass to the MPI library: {}", comm_name(comm),
        context.status().message());
    if (const Status noted = refuse(comm); !noted.ok()) log(LogLevel::debug, "{}", noted.message());
    return {nullptr, PassReason::attaching_failed};
}

/// Returns what is known of the communicator without asking other ranks; nothing if it is not
/// attached, but could be.
OfferedComm without_asking(MPI_Comm comm) {
    auto attached = attached_context(comm);
    if (!attached) return {nullptr, PassReason::invalid_comm};
    if (*attached != nullptr) {
        const bool alone = (*attached)->identity().rank_count() == 1;
        return {std::move(attached).value(), alone ? PassReason::single_rank : PassReason::none};
    }
    const int rank_count = rank_count_of(comm);
    if (rank_count == 0) return {nullptr, PassReason::intercommunicator};
    if (rank_count == 1) return {nullptr, PassReason::single_rank};
    const auto refusal = refusal_of(comm);
    return {nullptr, refusal ? *refusal : PassReason::attaching_failed};
}

/// Tries once to make the tree. If that fails, the calls that need the tree pass.
void prepare_tree(CommContext& context) {
    if (context.has_tree() || context.tree_failed()) return;
    if (const Status status = context.prepare_tree(); !status.ok())
        log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
            "calls on communicator '{}' that need a tree pass to the MPI library: {}",
            context.identity().name(), status.message());
}

/// Returns whether the shared memory of one host serves the call.
bool needs_no_tree(const CommContext& context, const OfferedSize& size) {
    return size.fits_one_host && context.one_host().may_open();
}

/// Prepares the tree if the call needs it and can wait for other ranks.
void prepare_tree_for(CommContext& context, const OfferedSize& size) {
    if (size.may_attach && !needs_no_tree(context, size)) prepare_tree(context);
}

bool is_decided(const OfferedComm& found) {
    return found.context != nullptr || found.passes();
}

void remember_that_it_passes(MPI_Comm comm, PassReason why) {
    if (why == PassReason::invalid_comm) return;
    if (const auto account = account_of(comm); account && *account != nullptr)
        (*account)->give_up(why);
}

/// So many communicators are attached by use. Each has a duplicate of its communicator, of which
/// MPICH can have 2048 with all the program's own, and a program that has many uses each only for a
/// short time.
constexpr int most_attached_by_use = 256;

/// Adds the call to the account, and returns whether attaching is worth it. Ranks on several hosts
/// are no account, but long vectors are.
bool is_worth_it(AttachAccount& account, const OfferedSize& size, Parts parts) {
    if (parts == Parts::without_tree) return account.add(size.bytes);
    return account.pass_reason() == PassReason::short_vector || account.add_wanted(size.bytes);
}

void tell_of_attached(const Result<std::shared_ptr<CommContext>>& context) {
    if (!context || *context == nullptr || (*context)->has_tree()) return;
    const CommIdentity& comm = (*context)->identity();
    log(LogLevel::info, "attached communicator '{}' of {} ranks by use: shared memory of {}",
        comm.name(), comm.rank_count(), comm.is_one_host() ? "one host" : "each host");
}

/// Attaches at the call that makes it pay, which is collective then.
OfferedComm comm_by_use(MPI_Comm comm, const OfferedSize& size, Parts parts) {
    constexpr PassReason passes = PassReason::short_of_attaching;
    if (!size.fits_one_host || !shared_memory_is_allowed()) return {nullptr, passes};
    const auto account = account_of(comm);
    if (!account || *account == nullptr) return {nullptr, passes};
    // This counts a call whose buffers are wrong here, too: no rank may look at its own alone.
    const bool is_worth = is_worth_it(**account, size, parts);
    if (size.is_started) attach_when_all_wait(comm, **account);
    if (!is_worth || !size.may_attach || !is_paid_on_all(comm, **account))
        return {nullptr, (*account)->pass_reason()};
    auto context = attach_for_use(comm, parts);
    if (context && *context == nullptr) {
        (*account)->give_up(PassReason::short_vector);
        return {nullptr, PassReason::short_vector};
    }
    tell_of_attached(context);
    return or_refused(comm, std::move(context));
}

/// Makes the private communicator of ranks that wait. A duplicate would have to come in the same
/// place among the program's collective calls on every rank; this comes in no place among them.
Result<PrivateComm> own_comm_of_met(MPI_Comm comm) {
    constexpr int tag = 0x4743;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm own = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(comm, &group), "MPI_Comm_group"));
    const int code = PMPI_Comm_create_group(comm, group, tag, &own);
    PMPI_Group_free(&group);
    GRADCOLL_TRY(from_mpi(code, "MPI_Comm_create_group"));
    return PrivateComm::of(own);
}

/// Attaches where all ranks wait for requests, unless one of them asks a higher price. The memory
/// is made, too, as nonblocking calls cannot make it.
void attach_met(MPI_Comm comm, AttachAccount& account) {
    auto own = own_comm_of_met(comm);
    if (!own || !is_paid_on_all(own->handle(), account)) return account.end_meeting();
    auto context = attach_for_use(comm, Parts::without_tree, std::move(own).value());
    if (context && *context != nullptr) (*context)->one_host().open();
    if (context && *context == nullptr) return account.give_up(PassReason::short_vector);
    tell_of_attached(context);
    (void)or_refused(comm, std::move(context));
}

}  // namespace

bool one_host_is_allowed() {
    static const bool allowed =
        allows_one_host(SettingsText::from_environment(), process_settings());
    return allowed;
}

bool shared_memory_is_allowed() {
    static const bool allowed =
        one_host_is_allowed() || allows_memory_inside_hosts(process_settings());
    return allowed;
}

SeenComm comm_for_short_way(MPI_Comm comm) {
    static const bool by_use =
        shared_memory_is_allowed() && process_settings().check != CheckLevel::collective;
    if (has_waiting_info(comm)) return {};
    SeenComm seen = known_comm(comm, by_use);
    if (seen.account != nullptr) seen.account->count_for_meeting();
    // It may have an account for the sake of the presence check.
    if (!by_use && seen.account != nullptr && !seen.account->has_given_up()) seen.account = nullptr;
    return seen;
}

bool is_paid_on_all(MPI_Comm comm, AttachAccount& account) {
    constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    // Memory of devices that only the MPI library reaches would be copied to the host.
    constexpr std::uint64_t never_by_copies = never - 1;
    if (account.pass_reason() == PassReason::short_vector) return true;
    if (!all_answer_alike(comm, account)) return false;
    if (account.price_is_agreed()) return account.is_paid();
    const bool has_enough = CommContext::live_count() >= most_attached_by_use;
    std::uint64_t price_ns = AttachPrice::a_rank_ns();
    if (has_enough) price_ns = never;
    if (Devices::of_process().has_met_unserved()) price_ns = never_by_copies;
    PMPI_Allreduce(MPI_IN_PLACE, &price_ns, 1, MPI_UINT64_T, MPI_MAX, comm);
    if (price_ns >= never_by_copies) {
        account.give_up(price_ns == never ? PassReason::enough_attached
                                          : PassReason::device_not_in_use);
        return false;
    }
    account.agree_on_price(price_ns);
    return account.is_paid();
}

void attach_when_all_wait(MPI_Comm comm, AttachAccount& account) {
    if (account.has_given_up() || account.meeting_is_settled() || !account.is_paid() ||
        process_settings().reproducible || !all_answer_alike(comm, account))
        return;
    WaitMeeting::begin(comm, account, attach_met);
}

void take_info_that_waits(MPI_Comm comm) {
    if (!has_waiting_info(comm)) return;
    const auto info = take_waiting_info(comm);
    const Status status = info ? take_new_info(comm, info->handle) : info.status();
    if (!status.ok()) log(LogLevel::warn, "info of communicator: {}", status.message());
}

OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size) {
    if (size.may_attach) take_info_that_waits(comm);
    OfferedComm found = without_asking(comm);
    const bool for_tree = is_for_tree(size);
    if (found.context != nullptr && for_tree) prepare_tree_for(*found.context, size);
    if (found.passes() && found.context == nullptr)
        remember_that_it_passes(comm, found.pass_reason);
    if (is_decided(found)) return found;
    if (!for_tree) return comm_by_use(comm, size, Parts::without_tree);
    if (size.fits_one_host && !size.is_compared && shared_memory_is_allowed())
        return comm_by_use(comm, size, Parts::tree_between_hosts);
    if (!size.may_attach) return {nullptr, PassReason::not_attached};
    if (const PassReason why = reason_not_to_ask(comm); why != PassReason::none)
        return {nullptr, why};
    return or_refused(comm, attach_for_use(comm, Parts::all));
}

PassReason reason_not_to_ask(MPI_Comm comm) {
    if (const auto attached = attached_context(comm); attached && *attached != nullptr)
        return PassReason::none;
    const auto account = account_of(comm);
    if (!account || *account == nullptr) return PassReason::not_attached;
    if (all_answer_alike(comm, **account)) return PassReason::none;
    return (*account)->has_given_up() ? (*account)->pass_reason() : PassReason::not_attached;
}

namespace {

OfferedComm comm_for_info(MPI_Comm comm) {
    OfferedComm found = without_asking(comm);
    if (!is_decided(found)) return or_refused(comm, attach_without_info(comm, Parts::all));
    if (found.context != nullptr) prepare_tree(*found.context);
    return found;
}

/// Takes the info of a communicator of one rank if it asks how sums are rounded; nothing else
/// matters there.
Status take_info_alone(MPI_Comm comm, MPI_Info info) {
    const auto keys = gc_keys_of(info);
    if (!keys) return keys.status();
    const bool asks = std::any_of(keys->begin(), keys->end(), [](const std::string& key) {
        const auto id = option_of_key(key);
        return id && *id == OptionId::reproducible;
    });
    if (!asks) return {};
    const auto context = context_of(comm);
    return context ? take_info(**context, info) : context.status();
}

}  // namespace

bool rounds_alone(MPI_Comm comm, bool offered) {
    if (rank_count_of(comm) != 1) return false;
    if (offered) take_info_that_waits(comm);
    const auto context = attached_context(comm);
    const bool is_attached = context && *context != nullptr;
    return (is_attached ? (*context)->settings().current() : process_settings()).anywhere;
}

Status take_new_info(MPI_Comm comm, MPI_Info info) {
    const int rank_count = rank_count_of(comm);
    if (rank_count == 1) return take_info_alone(comm, info);
    if (rank_count < 1) return {};
    meet_if_new(comm);
    if (reason_not_to_ask(comm) != PassReason::none) return {};
    const auto keys = gc_keys_of(info);
    if (!keys) return keys.status();
    const auto none = all_ranks(comm, keys->empty());
    if (!none) return none.status();
    if (*none) return {};
    const OfferedComm found = comm_for_info(comm);
    return found.passes() ? Status() : take_info(*found.context, info);
}

}  // namespace gradcoll
