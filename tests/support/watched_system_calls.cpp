// A seccomp filter that turns every system call of this thread into SIGSYS, but for those that one
// instruction makes: the handler reports the call and makes it there.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "support/watched_calls.hpp"

#ifdef __x86_64__

extern "C" long gradcoll_allowed_system_call(long number, const greg_t* arguments);
extern "C" const char gradcoll_behind_system_call[];

// number in rdi, six arguments at rsi; returns what the kernel returns.
asm(R"(
    .text
    .globl gradcoll_allowed_system_call
    .hidden gradcoll_allowed_system_call
    .globl gradcoll_behind_system_call
    .hidden gradcoll_behind_system_call
    .type gradcoll_allowed_system_call, @function
gradcoll_allowed_system_call:
    .cfi_startproc
    movq %rdi, %rax
    movq %rsi, %r11
    movq 0(%r11), %rdi
    movq 8(%r11), %rsi
    movq 16(%r11), %rdx
    movq 24(%r11), %r10
    movq 32(%r11), %r8
    movq 40(%r11), %r9
    syscall
gradcoll_behind_system_call:
    ret
    .cfi_endproc
)");

namespace gradcoll::test {
namespace {

void on_system_call(int, siginfo_t*, void* context) {
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const long number = registers[REG_RAX];
    note_call("system call", number);
    const std::array<greg_t, 6> arguments{registers[REG_RDI], registers[REG_RSI],
                                          registers[REG_RDX], registers[REG_R10],
                                          registers[REG_R8],  registers[REG_R9]};
    registers[REG_RAX] = gradcoll_allowed_system_call(number, arguments.data());
}

bool install_filter() {
    const auto behind = reinterpret_cast<std::uintptr_t>(gradcoll_behind_system_call);
    const auto low = static_cast<std::uint32_t>(behind);
    const auto high = static_cast<std::uint32_t>(behind >> 32);
    constexpr std::uint32_t address_at = offsetof(seccomp_data, instruction_pointer);
    std::array<sock_filter, 8> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, address_at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, address_at + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

bool watch_system_calls() {
    struct sigaction action {};
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGSYS, &action, nullptr) == 0 && install_filter();
}

}  // namespace gradcoll::test

#else

bool gradcoll::test::watch_system_calls() {
    return false;
}

#endif
