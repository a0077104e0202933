// tests/support/watched_calls.hpp - which calls of the C library and which system calls this
// program makes on its main thread, and who made them: the library under test, or the MPI library
// below it. Link gradcoll_test_watched_calls; it takes the place of malloc, mmap, the locks of
// pthreads and their kin.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradcoll::test {

/// SeenCall has calls by name and place, of the library under test alone.
struct SeenCall {
    std::string name;   ///< "pthread_mutex_lock", "system call 24"
    std::string place;  ///< file and offset of the caller, for addr2line
    long times = 0;
    long system_call = -1;  ///< its number, if it is one
};

/// A call counts as the library's if, from the inside out, its first frame in either the object of
/// `own` (a function of the library) or that of `below` (a function of the MPI library) is in the
/// former. So what the MPI library does when it is called does not count, and what the C++ runtime
/// does for us does. Call once, before watching.
void watch_calls_of(void* own, void* below);

/// Looks at every system call of this thread from now on. Returns false where the kernel refuses;
/// there they are never seen.
bool watch_system_calls();

void start_watching();
/// Returns what was seen since the start.
std::vector<SeenCall> stop_watching();

std::string text_of(const std::vector<SeenCall>& calls);

/// name: static text. system_call: its number, or -1 for a function.
void note_call(const char* name, long system_call = -1);

}  // namespace gradcoll::test
