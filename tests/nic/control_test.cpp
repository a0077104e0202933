// What is said over the socket between a rank and its agent.
#include "nic/control.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <random>

namespace gradcoll {
namespace {

struct Sockets {
    Sockets() {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
        left = Descriptor(ends[0]);
        right = Descriptor(ends[1]);
    }
    Descriptor left, right;
};

NicRoster small_roster() {
    NicRoster roster{{0, 0, 1, 2}, std::vector<NicEndpoint>(3)};
    roster.endpoints[1].port = 4711;
    roster.endpoints[1].address_count = 2;
    return roster;
}

TEST(NicPackets, ArriveWholeWithTheFilesBesideThem) {
    const Sockets sockets;
    const Descriptor file(memfd_create("test", MFD_CLOEXEC));
    const Descriptor* files[] = {&file, &file};
    ASSERT_TRUE(send_packet(sockets.left.number(), NicReady{}, files).ok());
    const auto received = receive_packet(sockets.right.number());
    ASSERT_TRUE(received.ok()) << received.status().message();
    EXPECT_NE(received->as<NicReady>(), nullptr);
    EXPECT_EQ(received->as<NicWelcome>(), nullptr);
    ASSERT_EQ(received->files.size(), 2U);
    struct stat sent {
    }, came{};
    fstat(file.number(), &sent);
    fstat(received->files[1].number(), &came);
    EXPECT_EQ(sent.st_ino, came.st_ino);
}

TEST(NicPackets, AnEndIsAnEmptyOne) {
    Sockets sockets;
    sockets.left = Descriptor();
    const auto received = receive_packet(sockets.right.number());
    ASSERT_TRUE(received.ok());
    EXPECT_TRUE(received->bytes.empty());
}

TEST(NicPackets, ARefusalIsPrintableWhateverIsInIt) {
    NicRefusal refusal = NicRefusal::of("no\nroom \x1b[1m");
    EXPECT_EQ(refusal.message(), "no?room ?[1m");
    refusal.text.fill('x');
    EXPECT_EQ(refusal.message().size(), refusal.text.size());
    EXPECT_EQ(NicRefusal::of(std::string(1000, 'y')).message().size(), refusal.text.size() - 1);
}

TEST(NicRoster, IsTheSameAfterTheWay) {
    const NicRoster roster = small_roster();
    const auto back = NicRoster::unpacked(roster.packed());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->host_of_rank, roster.host_of_rank);
    ASSERT_EQ(back->endpoints.size(), 3U);
    EXPECT_EQ(back->endpoints[1].port, 4711);
}

TEST(NicRoster, RefusesHostsAndAddressesThatAreNotThere) {
    NicRoster roster = small_roster();
    roster.host_of_rank[3] = 3;
    EXPECT_EQ(NicRoster::unpacked(roster.packed()).status().code(), Code::corrupt);
    roster = small_roster();
    roster.endpoints[2].address_count = 8;
    EXPECT_EQ(NicRoster::unpacked(roster.packed()).status().code(), Code::corrupt);
}

TEST(NicRoster, ReadsNothingOutsideWhateverTheBytesAre) {
    std::mt19937 random(19);
    const std::vector<std::byte> good = small_roster().packed();
    int refused = 0;
    for (int round = 0; round < 100'000; ++round) {
        std::vector<std::byte> bytes(
            good.begin(), good.begin() + static_cast<std::ptrdiff_t>(random() % (good.size() + 1)));
        for (int i = 0; i < 3 && !bytes.empty(); ++i)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        const auto roster = NicRoster::unpacked(bytes);
        refused += !roster.ok();
        if (!roster.ok()) continue;
        for (const std::uint32_t host : roster->host_of_rank)
            ASSERT_LT(host, roster->endpoints.size());
    }
    EXPECT_GT(refused, 50'000);
}

}  // namespace
}  // namespace gradcoll
