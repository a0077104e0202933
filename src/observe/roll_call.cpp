// observe/roll_call.cpp - the handler does nothing but read atomics and the clock, and write.
#include "observe/roll_call.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/options.hpp"
#include "base/signal_text.hpp"

namespace gradcoll {
namespace {

/// RollCall is what the handler reads. It is never destroyed: a signal may come at any time.
struct RollCall {
    std::string who;
    std::atomic<const LivePage*> page{nullptr};  ///< null: MPI has ended
    std::atomic_flag is_answered;                ///< set by the thread that answers
    SignalText text;
};
std::atomic<RollCall*> roll_call{nullptr};

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
        if (written <= 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void answer(int) {
    const int errno_before = errno;
    RollCall* const call = roll_call.load(std::memory_order_acquire);
    if (call != nullptr && !call->is_answered.test_and_set(std::memory_order_acquire)) {
        call->text.clear();
        if (const LivePage* const page = call->page.load(std::memory_order_acquire))
            page->tell(call->who, call->text);
        else
            call->text.add(call->who).add("has begun MPI_Finalize\n");
        write_all(call->text.view());
        call->is_answered.clear(std::memory_order_release);
    }
    errno = errno_before;
}

}  // namespace

int roll_call_signal() {
    const std::string& text = option_text(OptionId::roll_call);
    if (text == "USR1") return SIGUSR1;
    return text == "USR2" ? SIGUSR2 : 0;
}

bool answer_roll_calls(int signal, const LivePage& page, const std::string& who) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return false;
    auto made = std::make_unique<RollCall>();
    made->who = who;
    made->page = &page;
    roll_call.store(made.release(), std::memory_order_release);
    struct sigaction action {};
    action.sa_handler = answer;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, nullptr) == 0;
}

void end_roll_calls(std::unique_ptr<LivePage>& page) {
    RollCall* const call = roll_call.load(std::memory_order_acquire);
    if (call == nullptr || page == nullptr) return;
    call->page.store(nullptr, std::memory_order_release);
    page->remove_file();
    (void)page.release();
}

}  // namespace gradcoll
