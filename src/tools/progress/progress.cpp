#include "tools/progress/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace gradcoll {

std::string progress_text(std::string_view program, std::string_view what, double done,
                          double elapsed_s) {
    std::string text =
        fmt::format("{}: {}; {:.0f} %", program, what, 100 * std::clamp(done, 0.0, 1.0));
    constexpr double least_done = 0.02;
    constexpr double least_elapsed_s = 0.5;
    if (done >= least_done && done < 1 && elapsed_s >= least_elapsed_s)
        text += fmt::format(", {} left", seconds_text(elapsed_s * (1 - done) / done));
    return text;
}

ProgressLine::ProgressLine(std::string program, double work, Shown shown, std::FILE* to)
    : program_(std::move(program)),
      work_(work),
      to_(to),
      is_shown_(shown == Shown::always || (shown == Shown::on_terminal && isatty(fileno(to)) == 1)),
      has_line_(isatty(fileno(to)) == 1) {}

void ProgressLine::begin(std::string_view what) {
    what_ = what;
    show();
}

void ProgressLine::add(double work) {
    done_ += work;
}

void ProgressLine::clear() {
    if (!is_there_) return;
    std::fputs("\r\x1b[K", to_);
    std::fflush(to_);
    is_there_ = false;
}

void ProgressLine::show() {
    if (!is_shown_) return;
    const double elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string text =
        progress_text(program_, what_, work_ > 0 ? done_ / work_ : 0, elapsed_s);
    if (has_line_)
        fmt::print(to_, "\r\x1b[K{}", text);
    else
        fmt::print(to_, "{}\n", text);
    std::fflush(to_);
    is_there_ = has_line_;
}

}  // namespace gradcoll
