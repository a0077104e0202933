#include "support/watched_calls.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>

namespace gradcoll::test {
namespace {

/// Record is what is kept of a call while it runs, where nothing may be allocated.
struct Record {
    const char* name = nullptr;
    long system_call = -1;
    void* frame = nullptr;
    long times = 0;

    bool is_of(const Record& other) const {
        return name == other.name && system_call == other.system_call && frame == other.frame;
    }
};

/// More different ones than the table holds are as wrong as the first of them.
std::array<Record, 1000> records;
std::size_t record_count = 0;
const void* own_object = nullptr;
const void* object_below = nullptr;
thread_local bool is_watching = false;

const void* object_of(void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Returns the frame in the library under test, or null if the call is not its.
void* own_frame() {
    std::array<void*, 64> frames;
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < depth; ++i) {
        void* const frame = frames[static_cast<std::size_t>(i)];
        const void* const object = object_of(frame);
        if (object == own_object) return frame;
        if (object == object_below) return nullptr;
    }
    return nullptr;
}

void keep(const Record& record) {
    const auto end = records.begin() + static_cast<std::ptrdiff_t>(record_count);
    const auto same = std::find_if(records.begin(), end,
                                   [&](const Record& other) { return other.is_of(record); });
    if (same != end)
        ++same->times;
    else if (record_count < records.size())
        records[record_count++] = record;
}

std::string place_of(void* frame) {
    Dl_info info{};
    if (dladdr(frame, &info) == 0) return "?";
    char text[32];
    std::snprintf(text, sizeof text, " %#tx",
                  static_cast<char*>(frame) - static_cast<char*>(info.dli_fbase) - 1);
    return info.dli_fname + std::string(text);
}

}  // namespace

/// Is called by everything that stands in for something; it must not be seen itself.
void note_call(const char* name, long system_call) {
    if (!is_watching) return;
    is_watching = false;
    if (void* const frame = own_frame(); frame != nullptr) keep({name, system_call, frame, 1});
    is_watching = true;
}

void watch_calls_of(void* own, void* below) {
    own_object = object_of(own);
    object_below = object_of(below);
    own_frame();  // backtrace loads what it needs at its first call
}

void start_watching() {
    record_count = 0;
    is_watching = true;
}

std::vector<SeenCall> stop_watching() {
    is_watching = false;
    std::vector<SeenCall> seen;
    for (std::size_t i = 0; i < record_count; ++i) {
        const Record& record = records[i];
        seen.push_back({record.name, place_of(record.frame), record.times, record.system_call});
    }
    return seen;
}

std::string text_of(const std::vector<SeenCall>& calls) {
    std::string text;
    for (const SeenCall& call : calls) {
        text.append(std::to_string(call.times)).append(" x ").append(call.name);
        if (call.system_call >= 0) text.append(" ").append(std::to_string(call.system_call));
        text.append(" from ").append(call.place).append("\n");
    }
    return text;
}

}  // namespace gradcoll::test
