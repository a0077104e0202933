// tools/progress/progress.hpp - shows how far a program is and how long it will still take, to a
// user at a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace gradcoll {

/// Returns a text such as "gradcoll tune: links; 40 %, 12 s left", without the time until it can be
/// estimated. Pure.
std::string progress_text(std::string_view program, std::string_view what, double done,
                          double elapsed_s);

/// ProgressLine is one line on stderr that is overwritten again and again, and removed at the end.
/// It does not disturb output of other streams if clear() is called before. Not thread safe.
class ProgressLine {
  public:
    enum class Shown : std::uint8_t {
        never,
        on_terminal,  ///< only if stderr is one
        always  ///< if stderr is no terminal, in lines of their own, which a launcher collects
    };

    /// `work` is all there is to do, in any unit.
    ProgressLine(std::string program, double work, Shown shown, std::FILE* to = stderr);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Sets what is done now.
    void begin(std::string_view what);
    /// Adds work that has been done.
    void add(double work);
    /// Clears the line.
    void clear();

  private:
    void show();

    std::string program_;
    double work_;
    std::FILE* to_;
    bool is_shown_;
    bool has_line_;  ///< whether there is a line to overwrite
    std::string what_;
    double done_ = 0;
    bool is_there_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gradcoll
