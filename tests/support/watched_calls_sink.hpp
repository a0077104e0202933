// tests/support/watched_calls_sink.hpp - where the stand-ins of C functions and the handler of
// system calls report.
#pragma once

namespace gradcoll::test {

/// name: static text. system_call: its number, or -1 for a function.
void note_call(const char* name, long system_call = -1);

}  // namespace gradcoll::test
