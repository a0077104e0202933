#include "attach/attachments.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "attach/comm_info.hpp"
#include "base/hash.hpp"
#include "base/interposer_handle.hpp"
#include "base/log.hpp"
#include "base/spare_room.hpp"
#include "mpi/boundary.hpp"
#include "mpi/lifetime.hpp"
#include "settings/info_keys.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {
namespace {

/// An Attachment is the value of our attribute on a communicator.
struct Attachment {
    MPI_Comm comm = MPI_COMM_NULL;
    std::shared_ptr<CommContext> context;  ///< null: not attached
    std::optional<AttachAccount> account;  ///< empty: attached
};

std::mutex attachments_mutex;
std::vector<Attachment*> attachments;  // in the order in which they were made; guarded by
                                       // attachments_mutex
std::uint64_t change_count = 0;  // a change ends what threads have seen before; atomic, shared with
                                 // C
std::atomic<int> attachment_keyval{MPI_KEYVAL_INVALID};  // made once, under attachments_mutex

/// A Seen is where a thread found a context. MPI uses handles again, but not before the attachment
/// has ended.
struct Seen {
    MPI_Comm comm = MPI_COMM_NULL;
    Attachment* attachment = nullptr;
    std::uint64_t change_count = 0;
};
constexpr int seen_bits = 3;
thread_local std::array<Seen, 1 << seen_bits> seen;

Seen& seen_at(MPI_Comm comm) {
    return seen[slot_of(std::hash<MPI_Comm>{}(comm), seen_bits)];
}

std::uint64_t changes_so_far() {
    return std::atomic_ref(change_count).load(std::memory_order_relaxed);
}

SeenComm seen_in(Attachment& attachment) {
    return {attachment.context.get(), attachment.account ? &*attachment.account : nullptr};
}

void note_seen(MPI_Comm comm, Attachment* attachment) {
    seen_at(comm) = {comm, attachment, changes_so_far()};
}

/// Ends the use of a context. A communicator that never had a tree was attached for shared memory,
/// so the price of that learns from it.
void end_of(CommContext& context) {
    context.forget_user_comm();
    if (context.has_tree()) return;
    const GC_Stats stats = context.statistics().read();
    AttachPrice::learn(context.identity().rank_count(), stats.calls_tree, stats.bytes_reduced);
}

int detach(MPI_Comm comm, int, void* value, void*) noexcept {
    note_end_of(comm);
    const std::unique_ptr<Attachment> attachment(static_cast<Attachment*>(value));
    {
        const std::scoped_lock lock(attachments_mutex);
        std::erase(attachments, attachment.get());
    }
    forget_seen();
    if (attachment->context != nullptr) end_of(*attachment->context);
    return MPI_SUCCESS;
}

Attachment* oldest_attachment() {
    const std::scoped_lock lock(attachments_mutex);
    return attachments.empty() ? nullptr : attachments.front();
}

/// Detaches all in the order in which they were made, which all ranks share as far as they share
/// communicators.
void detach_all() {
    const KeepsComm keeps;
    while (const Attachment* oldest = oldest_attachment())
        PMPI_Comm_delete_attr(oldest->comm, attachment_keyval);
    int keyval = attachment_keyval.exchange(MPI_KEYVAL_INVALID);
    PMPI_Comm_free_keyval(&keyval);
    const std::scoped_lock lock(attachments_mutex);
    attachments.shrink_to_fit();
}

Status make_keyval() {
    if (attachment_keyval.load(std::memory_order_acquire) != MPI_KEYVAL_INVALID) return {};
    const std::scoped_lock lock(attachments_mutex);
    if (attachment_keyval != MPI_KEYVAL_INVALID) return {};
    int keyval = MPI_KEYVAL_INVALID;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &keyval, nullptr),
                          "MPI_Comm_create_keyval"));
    GRADCOLL_TRY(at_finalize(detach_all));
    attachment_keyval = keyval;
    return {};
}

/// Returns null if nothing hangs on the communicator.
Result<Attachment*> attachment_of(MPI_Comm comm) {
    const int keyval = attachment_keyval.load(std::memory_order_acquire);
    if (keyval == MPI_KEYVAL_INVALID || is_ending(comm)) return static_cast<Attachment*>(nullptr);
    void* value = nullptr;
    int found = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr"));
    return static_cast<Attachment*>(found != 0 ? value : nullptr);
}

/// Does what attachment_of() does, and remembers the answer for seen_comm().
Result<Attachment*> look_up(MPI_Comm comm) {
    auto found = attachment_of(comm);
    if (found && *found != nullptr) note_seen(comm, *found);
    return found;
}

/// Returns whether nothing new can hang on the communicator any more.
bool is_over(MPI_Comm comm) {
    return finalize_has_begun() || is_ending(comm);
}

/// Moves the attachment to the end: attachments end in the order in which they got their contexts,
/// which all ranks share.
void note_as_last(Attachment* attachment) {
    const std::scoped_lock lock(attachments_mutex);
    std::erase(attachments, attachment);
    attachments.push_back(attachment);
}

Result<Attachment*> hang_anew(MPI_Comm comm) {
    auto attachment = std::make_unique<Attachment>(Attachment{comm, nullptr, {}});
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_attr(comm, attachment_keyval, attachment.get()),
                          "MPI_Comm_set_attr"));
    return attachment.release();
}

/// Hangs an account on a communicator where nothing hangs.
Result<Attachment*> hang_prospect(MPI_Comm comm, int rank_count) {
    GRADCOLL_TRY(make_keyval());
    auto attachment = hang_anew(comm);
    if (!attachment) return attachment;
    (*attachment)->account.emplace(rank_count);
    note_as_last(*attachment);
    note_seen(comm, *attachment);
    return attachment;
}

/// Gives the context to what hangs on the communicator already. MPI is not asked to replace it: a
/// delete callback of the program may make the call that attaches, while MPI goes through the
/// attributes.
Result<Attachment*> hang_on(MPI_Comm comm, std::shared_ptr<CommContext> context) {
    GRADCOLL_TRY(make_keyval());
    auto attachment = attachment_of(comm);
    if (attachment && *attachment == nullptr) attachment = hang_anew(comm);
    if (!attachment) return attachment;
    (*attachment)->context = std::move(context);
    (*attachment)->account.reset();
    forget_seen();
    note_as_last(*attachment);
    return attachment;
}

Result<std::shared_ptr<CommContext>> attach_here(MPI_Comm comm, const SettingsWish& wish,
                                                 Parts parts, PrivateComm own) {
    auto context = CommContext::make(comm, wish, std::move(own));
    if (!context) return context;
    const bool one_host = (*context)->identity().is_one_host();
    if (parts == Parts::without_tree && !one_host && !(*context)->several_hosts().may_open())
        return std::shared_ptr<CommContext>();
    if (parts == Parts::all || (parts == Parts::tree_between_hosts && !one_host))
        GRADCOLL_TRY((*context)->prepare_tree());
    GRADCOLL_TRY(hang_on(comm, *context).status());
    return context;
}

/// Attaches a communicator. To look at the machine and to agree takes more of a stack than some
/// threads have. If threads other than the main one may call MPI, one may do it in the place of
/// this one, which waits.
Result<std::shared_ptr<CommContext>> attach(MPI_Comm comm, const SettingsWish& wish, Parts parts,
                                            PrivateComm own = {}) {
    free_spare_memory();
    GRADCOLL_TRY(make_keyval());
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) return attach_here(comm, wish, parts, std::move(own));
    Result<std::shared_ptr<CommContext>> attached = std::shared_ptr<CommContext>();
    run_with_room_on_stack([&] { attached = attach_here(comm, wish, parts, std::move(own)); });
    return attached;
}

/// Attaches with the gc_* keys that MPI_Comm_set_info put on the communicator, as far as the MPI
/// library keeps keys that it does not know.
Result<std::shared_ptr<CommContext>> attach_with_info(MPI_Comm comm) {
    MPI_Info info = MPI_INFO_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_info(comm, &info), "MPI_Comm_get_info"));
    SettingsWish wish{SettingsText::from_environment(), {}};
    wish.complaint = add_info(info, wish.text);
    PMPI_Info_free(&info);
    return attach(comm, wish, Parts::all);
}

/// Warns of a schedule that nothing advances: a program whose communicators are attached without
/// info knows nothing of this library, nor of its steps.
void warn_of_a_schedule_that_stands(const CommContext& context) {
    static std::once_flag once;
    const Settings& settings = context.settings().current();
    if (settings.schedule.empty() || settings.calls_per_step > 0) return;
    std::call_once(once, [&] {
        log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
            "the schedule of gc_codec stays at its first step, because this program does not call "
            "GC_Step: every=calls:N in GC_CODEC advances it every N calls that it may compress "
            "(persistent requests advance at each start)");
    });
}

}  // namespace

int rank_count_of(MPI_Comm comm) {
    int is_inter = 0;
    int rank_count = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter == 0) PMPI_Comm_size(comm, &rank_count);
    return rank_count;
}

Result<std::shared_ptr<CommContext>> attached_context(MPI_Comm comm) {
    const auto attachment = look_up(comm);
    if (!attachment) return attachment.status();
    return *attachment != nullptr ? (*attachment)->context : nullptr;
}

SeenComm seen_comm(MPI_Comm comm) {
    const Seen& last = seen_at(comm);
    if (last.comm != comm || last.attachment == nullptr || last.change_count != changes_so_far())
        return {};
    return seen_in(*last.attachment);
}

void forget_seen() {
    std::atomic_ref(change_count).fetch_add(1, std::memory_order_relaxed);
}

GC_Passed_call passed_call(const CallArguments& arguments, AttachAccount& account,
                           const KindOfCall& kind) {
    return {.comm = bits_of(arguments.comm),
            .datatype = bits_of(arguments.datatype),
            .op = bits_of(arguments.op),
            .item_bytes = kind.item_bytes,
            .end_bytes = account.end_bytes(kind),
            .changes = &change_count,
            .change_count = changes_so_far(),
            .account = &account.account()};
}

SeenComm known_comm(MPI_Comm comm, bool may_be_attached_by_use) {
    if (const SeenComm seen = seen_comm(comm); !seen.is_nothing()) return seen;
    auto found = look_up(comm);
    if (found && *found == nullptr && may_be_attached_by_use && mpi_is_running() &&
        !is_over(comm) && !has_waiting_info(comm)) {
        const int rank_count = rank_count_of(comm);
        if (rank_count > 1) found = hang_prospect(comm, rank_count);
    }
    return found && *found != nullptr ? seen_in(**found) : SeenComm();
}

Result<AttachAccount*> account_of(MPI_Comm comm) {
    auto found = look_up(comm);
    if (found && *found == nullptr && !is_over(comm)) {
        const int rank_count = comm_size(comm);
        found = hang_prospect(comm, rank_count);
    }
    if (!found) return found.status();
    return *found != nullptr ? seen_in(**found).account : nullptr;
}

Result<std::shared_ptr<CommContext>> attach_without_info(MPI_Comm comm, Parts parts,
                                                         PrivateComm own) {
    auto context =
        attach(comm, {SettingsText::from_environment(), {}, true}, parts, std::move(own));
    if (context && *context) warn_of_a_schedule_that_stands(**context);
    return context;
}

SettingsWish wish_like(MPI_Comm comm, const CommContext& old) {
    SettingsWish wish{old.settings().text(), {}};
    if (const std::string& tree = wish.text[OptionId::topology]; !is_discovered(tree)) {
        log(comm_rank(comm) == 0 ? LogLevel::warn : LogLevel::debug,
            "gc_topology={} was for the ranks of '{}', which are others here: it is auto", tree,
            old.identity().name());
        wish.text.set(OptionId::topology, info_of(OptionId::topology).default_value);
    }
    return wish;
}

Status attach_like(MPI_Comm comm, const CommContext& old) {
    const auto made = GRADCOLL_VALUE(attach(comm, wish_like(comm, old), Parts::all));
    made->set_step(old.settings().step());
    return {};
}

Status refuse(MPI_Comm comm) {
    const auto attachment = hang_on(comm, nullptr);
    if (!attachment) return attachment.status();
    (*attachment)->account.emplace(0).give_up(PassReason::attaching_failed);
    return {};
}

Result<PassReason> refusal_of(MPI_Comm comm) {
    const auto attachment = attachment_of(comm);
    if (!attachment) return attachment.status();
    if (*attachment == nullptr)
        return is_over(comm) ? PassReason::attaching_failed : PassReason::none;
    const auto& account = (*attachment)->account;
    const PassReason reason = account ? account->pass_reason() : PassReason::none;
    const bool is_final =
        reason == PassReason::attaching_failed || reason == PassReason::ranks_differ;
    return is_final ? reason : PassReason::none;
}

Result<std::shared_ptr<CommContext>> context_of(MPI_Comm comm) {
    auto context = attached_context(comm);
    if (!context) return context;
    if (*context) {
        GRADCOLL_TRY((*context)->prepare_tree());
        return context;
    }
    int is_inter = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter"));
    if (is_inter != 0 || is_over(comm)) return std::shared_ptr<CommContext>();
    return attach_with_info(comm);
}

}  // namespace gradcoll
