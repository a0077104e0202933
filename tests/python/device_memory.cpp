// The device of the plug-in that GC_DEVICE names, for tests in Python: memory, streams and marks as
// numbers.
#include <cstddef>
#include <cstdlib>

#include "support/device_of_plugin.hpp"

using gradcoll::DeviceMark;
using gradcoll::DeviceStream;
using gradcoll::test::device;

namespace {

/// What fails here is a fault of the test.
void expect(const gradcoll::Status& status) {
    if (!status.ok()) std::abort();
}

}  // namespace

extern "C" {

void* allocated(std::size_t size_bytes) {
    return device().allocate(size_bytes).value();
}
void release(void* memory) {
    device().release(memory);
}
DeviceStream* made_stream() {
    return std::move(device().make_stream()).value().release();
}
DeviceStream* default_stream() {
    return std::move(device().adopt_stream(nullptr)).value().release();
}
void end_stream(DeviceStream* stream) {
    delete stream;
}
void* native_of(DeviceStream* stream) {
    return stream->native();
}
void copy(DeviceStream* stream, void* to, const void* from, std::size_t size_bytes) {
    expect(stream->copy(to, from, size_bytes));
}
DeviceMark* made_mark() {
    return std::move(device().make_mark()).value().release();
}
void end_mark(DeviceMark* mark) {
    delete mark;
}
void record(DeviceStream* stream, DeviceMark* mark) {
    expect(stream->record(*mark));
}
void wait_for(DeviceStream* stream, DeviceMark* mark) {
    expect(stream->wait_for(*mark));
}
int has_passed(DeviceMark* mark) {
    return mark->passed().value() ? 1 : 0;
}
}
