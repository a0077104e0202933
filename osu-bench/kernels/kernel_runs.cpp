// osu-bench/kernels/kernel_runs.cpp - buffers, turns and medians.
#include "kernel_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.hpp"
#include "reduce/half.hpp"
#include "summary.hpp"

namespace gradcoll::bench {
namespace {

double cpu_seconds() {
    return seconds_of(thread_cpu_ns());
}

struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

/// Makes a buffer that is aligned to a page and touched.
Buffer make_buffer(std::size_t bytes) {
    const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
    Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(4096, rounded)));
    std::memset(buffer.get(), 0, rounded);
    return buffer;
}

template <class T, class FromFloat>
void fill(std::byte* out, std::size_t count, FromFloat from_float) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < count; ++i) {
        const T value = from_float(normal(generator));
        std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

void fill_normal(ElementType type, std::byte* out, std::size_t count) {
    const auto same = [](float value) { return value; };
    switch (type) {
        case ElementType::f16:
            return fill<std::uint16_t>(out, count, f16_from_float);
        case ElementType::bf16:
            return fill<std::uint16_t>(out, count, bf16_from_float);
        case ElementType::f64:
            return fill<double>(out, count, same);
        default:
            return fill<float>(out, count, same);
    }
}

/// A Piece is what a call of a kernel works on.
struct Piece {
    std::size_t first, elems, payload, payload_bytes;
};

struct Job {
    Job(const Codec& with, std::size_t plain_bytes, std::size_t call_elems)
        : codec(with),
          elem_bytes(element_bytes(with.type)),
          count(plain_bytes / elem_bytes),
          in(make_buffer(plain_bytes)),
          other(make_buffer(plain_bytes)),
          residual(make_buffer(count * sizeof(double))),
          encoded(make_buffer(bound_bytes(with.id, elem_bytes, count))) {
        fill_normal(with.type, in.get(), count);
        std::size_t payload = 0;
        for (std::size_t first = 0; first < count;) {
            const std::size_t left = count - first;
            Piece piece{first, call_elems == 0 ? left : std::min(call_elems, left), payload, 0};
            piece.payload_bytes =
                codec.encode(in.get() + first * elem_bytes, piece.elems, encoded.get() + payload);
            first += piece.elems;
            payload += piece.payload_bytes;
            pieces.push_back(piece);
        }
    }

    void run(Kernel kernel) const {
        for (const Piece& piece : pieces) run(kernel, piece);
    }
    void run(Kernel kernel, const Piece& piece) const {
        const std::byte* from = in.get() + piece.first * elem_bytes;
        std::byte* to = other.get() + piece.first * elem_bytes;
        std::byte* payload = encoded.get() + piece.payload;
        switch (kernel) {
            case Kernel::encode:
                codec.encode(from, piece.elems, payload);
                return;
            case Kernel::encode_with_residual:
                codec.encode_with_residual(from, residual_of(piece), piece.elems, payload);
                return;
            case Kernel::decode:
                return must(codec.decode(payload, piece.payload_bytes, piece.elems, to));
            case Kernel::decode_sum:
                return must(codec.decode_sum(payload, piece.payload_bytes, piece.elems, to, to));
        }
    }
    std::byte* residual_of(const Piece& piece) const {
        return residual.get() + piece.first * (elem_bytes == 8 ? sizeof(double) : sizeof(float));
    }
    static void must(bool valid) {
        if (!valid) std::abort();  // our own encoding was refused
    }

    Codec codec;
    std::size_t elem_bytes, count;
    Buffer in, other, residual, encoded;
    std::vector<Piece> pieces;
};

double seconds_per_call(int calls, const std::function<void()>& call) {
    const double start = cpu_seconds();
    for (int i = 0; i < calls; ++i) call();
    return (cpu_seconds() - start) / calls;
}

}  // namespace

std::string_view name_of(Kernel kernel) {
    constexpr std::string_view names[] = {"encode", "encode+residual", "decode", "decode+sum"};
    return names[static_cast<std::size_t>(kernel)];
}

Rates measure(const Codec& codec, Kernel kernel, std::size_t plain_bytes, int repetitions,
              std::size_t call_elems) {
    const Job job(codec, plain_bytes, call_elems);
    const Buffer copy = make_buffer(plain_bytes);
    const int calls = static_cast<int>(std::clamp<std::size_t>((4u << 20) / plain_bytes, 1, 64));
    std::vector<double> kernel_s, copy_s;
    for (int r = 0; r < repetitions + 1; ++r) {  // the first turn warms up
        copy_s.push_back(seconds_per_call(calls, [&] {
            std::memcpy(copy.get(), job.in.get(), plain_bytes);
            asm volatile("" ::"r"(copy.get()) : "memory");
        }));
        kernel_s.push_back(seconds_per_call(calls, [&] { job.run(kernel); }));
    }
    kernel_s.erase(kernel_s.begin());
    copy_s.erase(copy_s.begin());
    const double gigabytes = static_cast<double>(plain_bytes) * 1e-9;
    const double kernel_median = spread_of(kernel_s).median;
    return {gigabytes / kernel_median, gigabytes / spread_of(copy_s).median, kernel_median};
}

}  // namespace gradcoll::bench
