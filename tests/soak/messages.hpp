// tests/soak/messages.hpp - messages of the program itself that are under way while collective
// calls run. A sender that is in a collective call still has to move them: some of the receivers
// wait before they call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "soak/comms.hpp"
#include "soak/dice.hpp"

namespace gradcoll::soak {

class Messages {
  public:
    /// Starts up to three messages on communicators of the slots, and receives some. Collective.
    void start(Comms& comms, Dice& dice);
    /// Receives the others and checks all.
    void finish();

  private:
    enum class Receipt { waits_before_calls, started_before_calls, after_calls };
    struct Message {
        MPI_Comm comm = MPI_COMM_NULL;
        int from = 0, to = 0, tag = 0;
        Receipt receipt = Receipt::after_calls;
        bool sends = false, receives = false, from_any = false;
        std::vector<std::uint64_t> words;
        std::uint64_t key = 0;
        MPI_Request request = MPI_REQUEST_NULL;

        int length() const { return static_cast<int>(words.size()); }
        int source() const { return from_any ? MPI_ANY_SOURCE : from; }
    };

    static Message rolled(Comms& comms, int tag, Dice& dice);
    static void begin(Message& message);
    static void check(const Message& message);

    std::vector<Message> messages_;
    /// Differs from the tags of earlier messages: a rank that is ahead may send before others have
    /// received the last ones from any source.
    int next_tag_ = 0;
};

}  // namespace gradcoll::soak
