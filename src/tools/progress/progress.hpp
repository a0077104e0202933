// tools/progress/progress.hpp - how far a program is and how long it will still take, for who waits
// at a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace gradcoll {

/// "gc_tune: links; 40 %, 12 s left"; nothing of the time before it can be told. Pure.
std::string progress_text(std::string_view program, std::string_view what, double done,
                          double elapsed_s);

/// One line on stderr that is written over and over, and gone at the end. What comes from other
/// streams meanwhile is not disturbed if clear() is called before. Not thread safe.
class ProgressLine {
  public:
    enum class Shown : std::uint8_t {
        never,
        on_terminal,  ///< only if stderr is one
        always        ///< if it is none, in lines of their own: where a launcher collects them
    };

    /// `work`: all there is to do, in any unit.
    ProgressLine(std::string program, double work, Shown shown, std::FILE* to = stderr);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// What is done now.
    void begin(std::string_view what);
    /// So much more is done.
    void add(double work);
    /// Nothing stands on the line.
    void clear();

  private:
    void show();

    std::string program_;
    double work_;
    std::FILE* to_;
    bool is_shown_;
    bool has_line_;  ///< that is written over
    std::string what_;
    double done_ = 0;
    bool is_there_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gradcoll
