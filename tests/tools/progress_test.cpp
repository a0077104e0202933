// tests/tools/progress_test.cpp - the progress line: what is written, and where nothing is.
#include "tools/progress/progress.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <memory>

namespace gradcoll {
namespace {

/// Returns what a body writes into a stream: a pseudo-terminal's, or a file's.
template <class Body>
std::string written_to_terminal(Body&& body) {
    int master = -1;
    int slave = -1;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    std::FILE* terminal = fdopen(slave, "w");
    body(terminal);
    std::fflush(terminal);
    std::string text;  // which arrives in pieces
    pollfd readable{master, POLLIN, 0};
    constexpr int patience_ms = 300;
    while (poll(&readable, 1, patience_ms) == 1) {
        char piece[256];
        const ssize_t got = read(master, piece, sizeof piece);
        if (got <= 0) break;
        text.append(piece, static_cast<std::size_t>(got));
    }
    std::fclose(terminal);
    close(master);
    return text;
}

template <class Body>
std::string written_to_file(Body&& body) {
    std::FILE* file = std::tmpfile();
    body(file);
    std::rewind(file);
    char text[4096];
    const std::size_t got = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    return {text, got};
}

TEST(ProgressText, SaysTheTimeLeftOnceItCanBeTold) {
    EXPECT_EQ(progress_text("gradcoll tune", "links", 0, 9), "gradcoll tune: links; 0 %");
    EXPECT_EQ(progress_text("gradcoll tune", "links", 0.5, 0.1), "gradcoll tune: links; 50 %");
    EXPECT_EQ(progress_text("gradcoll tune", "links", 0.25, 10),
              "gradcoll tune: links; 25 %, 30.0 s left");
    EXPECT_EQ(progress_text("gradcoll tune", "links", 1, 10), "gradcoll tune: links; 100 %");
    EXPECT_EQ(progress_text("gradcoll tune", "links", 1.5, 10), "gradcoll tune: links; 100 %");
}

void some_work(std::FILE* to, ProgressLine::Shown shown) {
    ProgressLine progress("tool", 4, shown, to);
    progress.begin("one");
    progress.add(3);
    progress.begin("two");
}

TEST(ProgressLine, IsOneLineOfATerminalAndGoneAtTheEnd) {
    const std::string text =
        written_to_terminal([](std::FILE* to) { some_work(to, ProgressLine::Shown::on_terminal); });
    EXPECT_EQ(text, "\r\x1b[Ktool: one; 0 %\r\x1b[Ktool: two; 75 %\r\x1b[K");
}

TEST(ProgressLine, IsNotInFilesUnlessItIsAskedFor) {
    EXPECT_EQ(
        written_to_file([](std::FILE* to) { some_work(to, ProgressLine::Shown::on_terminal); }),
        "");
    EXPECT_EQ(written_to_file([](std::FILE* to) { some_work(to, ProgressLine::Shown::always); }),
              "tool: one; 0 %\ntool: two; 75 %\n");
    EXPECT_EQ(written_to_terminal([](std::FILE* to) {
                  some_work(to, ProgressLine::Shown::never);
                  std::fputs("end", to);
              }),
              "end");
}

}  // namespace
}  // namespace gradcoll
