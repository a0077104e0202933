// fuzz/reference_input.cpp - a peer's references, on emulated devices, where a copy of a byte
// beyond the end of memory fails.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "device/devices.hpp"
#include "device/ipc/peer_device_memory.hpp"
#include "device/ipc/watched_device.hpp"
#include "fuzz/memory_inputs.hpp"
#include "fuzz/promises.hpp"

namespace gradcoll::fuzz {
namespace {

constexpr std::size_t most_bytes = 5000;
using Reference = std::array<std::byte, reference_bytes>;

/// Meant is a peer's reference and what it should mean.
struct Meant {
    Reference reference{};
    std::size_t expected_bytes = 0;
    std::byte value{};  ///< value of each byte
};

/// Held is what the receiver got and may still read.
struct Held {
    const void* bytes = nullptr;
    std::size_t size_bytes = 0;
    std::byte value{};
};

/// Copier copies by streams, as the CPU cannot read a device's memory.
class Copier {
  public:
    explicit Copier(Device& device)
        : device_(device),
          pinned_(static_cast<std::byte*>(device.allocate_pinned(most_bytes).value())),
          stream_(device.make_stream().value()),
          mark_(device.make_mark().value()) {}
    ~Copier() { device_.release_pinned(pinned_); }
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    void fill(void* to, std::size_t size_bytes, std::byte value) {
        std::memset(pinned_, static_cast<int>(value), size_bytes);
        must(copied(to, pinned_, size_bytes), "own memory can be written", "references");
    }
    /// Returns nothing if the device does not reach all of them.
    std::span<const std::byte> read(const void* from, std::size_t size_bytes) {
        if (size_bytes > most_bytes || !copied(pinned_, from, size_bytes)) return {};
        return {pinned_, size_bytes};
    }

  private:
    bool copied(void* to, const void* from, std::size_t size_bytes) {
        return stream_->copy(to, from, size_bytes).ok() && stream_->record(*mark_).ok() &&
               wait_until_passed(*mark_).ok();
    }

    Device& device_;
    std::byte* pinned_;
    std::unique_ptr<DeviceStream> stream_;
    std::unique_ptr<DeviceMark> mark_;
};

/// Owned is memory of the peer, which gives it back and takes other memory.
class Owned {
  public:
    Owned(Device& device, Copier& copier) : device_(device), copier_(copier) {}
    ~Owned() { give_back(); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    void take(Random& random) {
        give_back();
        size_bytes_ = 1 + random.below(most_bytes);
        value_ = static_cast<std::byte>(random.byte());
        data_ = static_cast<std::byte*>(device_.allocate(size_bytes_).value());
        copier_.fill(data_, size_bytes_, value_);
    }
    Meant refer(PeerDeviceMemory& sent, Random& random) const {
        const std::size_t offset = random.below(size_bytes_);
        Meant meant{{}, 1 + random.below(size_bytes_ - offset), value_};
        must(sent.refer(data_ + offset, meant.expected_bytes, meant.reference).ok(),
             "own memory can be referred to", "references");
        return meant;
    }

  private:
    void give_back() {
        if (data_ != nullptr) device_.release(data_);
    }

    Device& device_;
    Copier& copier_;
    std::byte* data_ = nullptr;
    std::size_t size_bytes_ = 0;
    std::byte value_{};
};

/// Damages one to three words or places, so that a wrong allocation may come with an invalid
/// handle.
void damage(Meant& meant, Random& random) {
    constexpr std::size_t words = 7, handle = 8 * words, handle_bytes = sizeof(DeviceHandle);
    static_assert(handle + handle_bytes <= reference_bytes);
    for (std::size_t changes = 1 + random.below(3); changes > 0; --changes)
        switch (random.below(5)) {
            case 0:
                scribble(meant.reference.data() + handle, handle_bytes, random);
                break;
            case 1:
                scribble(meant.reference.data(), meant.reference.size(), random);
                break;
            case 2:
                meant.expected_bytes = number(random);
                std::memcpy(meant.reference.data() + 16, &meant.expected_bytes, 8);
                break;
            default:
                const std::uint64_t word = number(random);
                std::memcpy(meant.reference.data() + 8 * random.below(words), &word, sizeof word);
        }
}

}  // namespace

struct ReferenceInput::Impl {
    Impl()
        : devices(GRADCOLL_EMULATED_DEVICE),
          device(*devices.look_for_plugin()->device(0).value()),
          copier(device) {}

    void run(Random& random, Outcome& outcome);
    bool take(const Meant& meant, bool honest, PeerDeviceMemory& received, Held& held,
              Random& random);
    void must_read(const Held& held, std::string_view promise);

    Devices devices;
    Device& device;
    Copier copier;
};

void ReferenceInput::Impl::must_read(const Held& held, std::string_view promise) {
    const auto bytes = copier.read(held.bytes, held.size_bytes);
    must(bytes.size() == held.size_bytes &&
             std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == held.value; }),
         promise, "references");
}

/// Takes a reference; returns whether it was accepted.
bool ReferenceInput::Impl::take(const Meant& meant, bool honest, PeerDeviceMemory& received,
                                Held& held, Random& random) {
    const std::size_t length =
        honest || random.below(8) > 0 ? reference_bytes : random.below(reference_bytes + 1);
    const auto bytes =
        received.resolve(std::span(meant.reference).first(length), meant.expected_bytes);
    if (!bytes.ok()) {
        must(!honest, "what is right is accepted", "references");
        must_be_a_message(bytes.status().message(), "references");
        if (held.bytes != nullptr)
            must_read(held, "a reference that is refused does away with nothing");
        return false;
    }
    // Accepting another reference may end the memory of earlier ones.
    held = {};
    if (honest) {
        held = {*bytes, meant.expected_bytes, meant.value};
        must_read(held, "a reference means its bytes");
    } else {
        must(copier.read(*bytes, meant.expected_bytes).size() == meant.expected_bytes,
             "what is accepted means bytes of a device", "references");
    }
    return true;
}

void ReferenceInput::Impl::run(Random& random, Outcome& outcome) {
    test::WatchedDevice watched(device);
    bool borne = true;
    {
        PeerDeviceMemory sent(device), received(watched);
        Owned first(device, copier), second(device, copier);
        first.take(random);
        second.take(random);
        Held held;
        for (int turn = 0; turn < 6; ++turn) {
            Owned& owned = random.below(2) == 0 ? first : second;
            if (random.below(6) == 0) owned.take(random);
            Meant meant = owned.refer(sent, random);
            const bool honest = random.below(3) > 0;
            if (!honest) damage(meant, random);
            borne = take(meant, honest, received, held, random) && borne;
        }
    }
    must(watched.opened == watched.closed, "what is opened is closed", "references");
    ++outcome.inputs;
    outcome.borne += borne ? 1 : 0;
}

ReferenceInput::ReferenceInput() : impl_(std::make_unique<Impl>()) {}
ReferenceInput::~ReferenceInput() = default;

void ReferenceInput::run(Random& random, Outcome& outcome) {
    impl_->run(random, outcome);
}

}  // namespace gradcoll::fuzz
