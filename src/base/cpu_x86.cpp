// What this CPU can do, on x86-64.
#include "base/cpu.hpp"

namespace gradcoll {
namespace {

bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

bool cpu_has(InstructionSet set) {
    switch (set) {
        case InstructionSet::scalar:
            return true;
        case InstructionSet::avx2:
            return has_avx2();
        case InstructionSet::avx512:
            return has_avx512();
    }
    return false;
}

bool cpu_has_for_codecs(InstructionSet set) {
    return set != InstructionSet::avx512 ||
           (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
            __builtin_cpu_supports("bmi"));
}

}  // namespace gradcoll
