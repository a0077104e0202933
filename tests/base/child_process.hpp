// tests/base/child_process.hpp - another process, for tests that look at its end.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/watched_process.hpp"

namespace gradcoll {

/// A Child says its name, and goes on until it is killed.
struct Child {
    Child() {
        int ends[2];
        if (pipe(ends) != 0) return;
        number = fork();
        if (number == 0) {
            name = this_process_name();
            if (write(ends[1], &name, sizeof name) != sizeof name) _exit(1);
            for (;;) pause();
        }
        EXPECT_EQ(read(ends[0], &name, sizeof name), ssize_t{sizeof name});
        close(ends[0]);
        close(ends[1]);
    }
    ~Child() {
        kill(number, SIGKILL);
        waitpid(number, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t number = -1;
    ProcessName name;
};

}  // namespace gradcoll
