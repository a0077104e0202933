// nic/directory.hpp - the folder in which the NIC agent of a host and user has its socket.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Returns `setting` (GC_NIC=dir=...), or if that is empty a folder in $XDG_RUNTIME_DIR, or
/// /tmp/gradcoll-UID.
std::string nic_directory(const std::string& setting);

/// Makes the folder if it is not there. Errors: io unless it is a folder of this user's own, with
/// mode 0700, and no symbolic link: others could put another socket there.
Status prepare_nic_directory(const std::string& path);
/// Checks a folder that has to be there. Errors: those of prepare_nic_directory().
Status check_nic_directory(const std::string& path);

/// NicDoor is what an agent has of its folder. The lock goes with the process, however that ends.
struct NicDoor {
    Descriptor lock;
    Descriptor socket;  ///< listens
};
/// Opens the door; nothing if another agent has the folder. Errors: io.
Result<std::optional<NicDoor>> open_nic_door(const std::string& directory);
/// Connects to the agent that listens there. Answers are waited for at most `patience`. Errors: io.
Result<Descriptor> connect_to_nic_agent(const std::string& directory,
                                        std::chrono::milliseconds patience);

}  // namespace gradcoll
