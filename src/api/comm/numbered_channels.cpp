#include "api/comm/numbered_channels.hpp"

#include "api/comm/token.hpp"
#include "api/edge/boundary.hpp"
#include "runtime/tags.hpp"

namespace gradcoll {

Result<std::unique_ptr<NumberedChannel>> NumberedChannel::make(MPI_Comm parent) {
    MPI_Comm comm = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(parent, &comm), "MPI_Comm_dup"));
    std::unique_ptr<NumberedChannel> made(new NumberedChannel(comm));
    GRADCOLL_TRY(return_errors(comm));
    auto channel = MpiChannel::make(comm);
    if (!channel) return channel.status();
    made->channel_ = std::move(channel).value();
    return made;
}

NumberedChannel::~NumberedChannel() {
    channel_.reset();
    if (mpi_is_running()) PMPI_Comm_free(&comm_);
}

Result<ChannelNumber> NumberedChannels::next(MPI_Comm parent) {
    if (left_ == 0) {
        auto channel = NumberedChannel::make(parent);
        if (!channel) return channel.status();
        const auto tags = TagLayout::make((*channel)->channel().tag_limit(), 1);
        if (!tags) return tags.status();
        channels_.push_back(std::move(channel).value());
        left_ = numbers_of_one_ = tags->sequence_count();
    }
    return ChannelNumber{channels_.back().get(), numbers_of_one_ - left_--};
}

}  // namespace gradcoll
