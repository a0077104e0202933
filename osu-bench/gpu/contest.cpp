// contest.cpp - decides which buffers a call uses, and who is timed when.
#include "contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradcoll::bench {
namespace {

/// Rotating buffers are this many times as large as the L2.
constexpr std::size_t cold_l2s = 4;
/// Resident buffers take this part of the L2: kernel and copy take turns, and the buffers of both
/// stay there.
constexpr std::size_t resident_share = 3;
/// A batch moves about this much, so that its first and last call hardly matter.
constexpr std::size_t batch_bytes = std::size_t{4} << 30;
constexpr std::size_t max_calls = 200;

std::size_t divided_up(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}

std::size_t sets_for(const MovedBytes& moved, const GpuFacts& facts) {
    return std::max<std::size_t>(2, divided_up(cold_l2s * facts.l2_bytes, moved.total()));
}

std::size_t copy_bytes(const MovedBytes& moved) {
    return divided_up(moved.total(), 2);
}

double gb_s(const MovedBytes& moved, const std::vector<double>& seconds) {
    return static_cast<double>(moved.total()) * 1e-9 / spread_of(seconds).median;
}

}  // namespace

std::vector<Form> forms_of(const Kind& kind) {
    if (kind.codec == CodecId::bf16) {
        return {{"-", CodecForm::by_alignment}};
    }
    return {{"vector", CodecForm::vector}, {"warp", CodecForm::warp}};
}

Contest::Contest(const GpuOptions& options, const GpuFacts& facts, Kind kind, CodecWork work,
                 std::size_t size_bytes)
    : options_(options),
      facts_(facts),
      kind_(kind),
      work_(work),
      size_bytes_(size_bytes),
      count_(size_bytes / element_bytes(kind.type)),
      moved_(moved_bytes(kind, work, count_)),
      expected_(expected_of(kind, work, count_, options.seed)),
      sets_(expected_, count_, sets_for(moved_, facts)),
      invalid_(sizeof(std::uint32_t)) {
    for (std::size_t i = 0; i < 2 * sets_.size(); ++i) {
        copies_.emplace_back(copy_bytes(moved_));
        require(cudaMemset(copies_.back().data(), static_cast<int>(i), copy_bytes(moved_)),
                "filling a buffer");
    }
    require(cudaDeviceSynchronize(), "filling buffers");
}

std::string Contest::name_of_case(const Form& form) const {
    return fmt::format("{} {} {} {} of {} bytes", gradcoll::name_of(kind_.codec),
                       gradcoll::name_of(kind_.type), name_of(work_), form.name, size_bytes_);
}

void Contest::launch(const Form& form, std::size_t set) const {
    const CodecLaunch what{.work = work_,
                           .codec = plain(kind_.codec),
                           .type = kind_.type,
                           .stream = stream_.get(),
                           .invalid = reinterpret_cast<std::uint32_t*>(invalid_.data()),
                           .parameters = parameters_of(kind_.codec)};
    const Status started = launch_codec_cuda_form(form.form, what, sets_.job(set));
    if (!started.ok()) {
        throw std::runtime_error(name_of_case(form) + ": " + started.message());
    }
}

void Contest::copy(std::size_t pair) const {
    require(cudaMemcpyAsync(copies_[2 * pair + 1].data(), copies_[2 * pair].data(),
                            copy_bytes(moved_), cudaMemcpyDeviceToDevice, stream_.get()),
            "copying");
}

bool Contest::called_invalid() const {
    std::uint32_t invalid = 0;
    require(cudaMemcpy(&invalid, invalid_.data(), sizeof invalid, cudaMemcpyDeviceToHost),
            "reading a word");
    return invalid != 0;
}

std::string Contest::wrong_with(const Form& form) {
    require(cudaMemset(invalid_.data(), 0, sizeof(std::uint32_t)), "clearing a word");
    sets_.reset_first();
    launch(form, 0);
    stream_.wait();
    const std::string wrong =
        called_invalid() ? "a payload of the CPU was called invalid" : sets_.wrong_in_first();
    return wrong.empty() ? "" : name_of_case(form) + ": " + wrong;
}

std::vector<Residency> Contest::residencies() const {
    if (moved_.total() <= facts_.l2_bytes / resident_share) {
        return {Residency::cold, Residency::resident};
    }
    return {Residency::cold};
}

// Returns the number of calls, such that every set is used equally often.
int Contest::calls_for(std::size_t sets) const {
    const std::size_t calls = std::clamp<std::size_t>(batch_bytes / moved_.total(), 4, max_calls);
    return static_cast<int>(divided_up(calls, sets) * sets);
}

GpuRow Contest::measure(const Form& form, Residency residency) {
    const bool cold = residency == Residency::cold;
    const std::size_t sets = cold ? sets_.size() : 1;
    const Launching launching = cold ? Launching::one_by_one : Launching::recorded;
    const int calls = calls_for(sets);
    const auto set_of = [sets](int call) { return static_cast<std::size_t>(call) % sets; };
    const Batch kernels(stream_, launching, calls, [&](int call) { launch(form, set_of(call)); });
    const Batch copies(stream_, launching, calls, [&](int call) { copy(set_of(call)); });
    kernels.seconds_per_call();
    copies.seconds_per_call();
    std::vector<double> kernel_s, copy_s, ratios;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
        const bool kernel_first = repeat % 2 == 0;
        const double first = (kernel_first ? kernels : copies).seconds_per_call();
        const double second = (kernel_first ? copies : kernels).seconds_per_call();
        kernel_s.push_back(kernel_first ? first : second);
        copy_s.push_back(kernel_first ? second : first);
        ratios.push_back(copy_s.back() / kernel_s.back());
    }
    return {.kind = kind_,
            .work = work_,
            .form = std::string(form.name),
            .size_bytes = size_bytes_,
            .residency = residency,
            .moved = moved_,
            .kernel_gb_s = gb_s(moved_, kernel_s),
            .copy_gb_s = gb_s(moved_, copy_s),
            .ratio = spread_of(ratios)};
}

}  // namespace gradcoll::bench
