#include "api/comm/numbered_channels.hpp"

#include "runtime/tags.hpp"

namespace gradcoll {

Result<std::unique_ptr<NumberedChannel>> NumberedChannel::make(MPI_Comm parent) {
    auto comm = PrivateComm::make(parent);
    if (!comm) return comm.status();
    auto channel = MpiChannel::make(comm->handle());
    if (!channel) return channel.status();
    std::unique_ptr<NumberedChannel> made(new NumberedChannel(std::move(comm).value()));
    made->channel_ = std::move(channel).value();
    return made;
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
