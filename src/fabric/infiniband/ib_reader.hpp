// fabric/infiniband/ib_reader.hpp - what the two recorded forms of an InfiniBand fabric
// share: devices with descriptions, cables that are listed from both of their ends, speeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace gradcoll {

/// Returns the data rate of "4xNDR" (or width "4x" and speed "NDR") in GB/s for each direction; 0
/// for an unknown speed. Returns nothing if the text has another form. Source: InfiniBand
/// Architecture Specification, volume 2: signalling rates, less 8b/10b up to QDR and 64b/66b from
/// FDR10 on.
std::optional<double> ib_gbytes_per_s(std::string_view width, std::string_view speed);

/// Returns the host that an adapter's description names: its first word ("node7 mlx5_0", "node7
/// HCA-1"). Returns nothing for the description of an adapter that nobody has named ("MT4129
/// ConnectX7 Mellanox Technologies") or of the device inside a switch ("Mellanox Technologies
/// Aggregation Node").
std::optional<std::string_view> ib_host_of(std::string_view description);

/// Returns the short name in a switch's description: "MF0;leaf-1:MQM9701/U1" is "leaf-1", "Voltaire
/// 4036 # 4036-84FA" is "4036-84FA". Returns an empty name if it names only the vendor.
std::string ib_switch_name_of(std::string_view description);

/// IbReader collects devices and cables in any order.
class IbReader {
  public:
    enum class Kind : std::uint8_t { fabric_switch, adapter, router };
    /// A Port is one end of a cable. `guid` is whatever the source identifies devices (or their
    /// ports) by.
    struct Port {
        Kind kind;
        std::string_view guid;
        int number = 0;
    };

    void describe(Kind kind, std::string_view guid, std::string_view description);
    /// Adds a cable. The same two ports are one cable, from whichever end it is listed.
    void connect(const Port& a, const Port& b, double gbytes_per_s);
    /// Returns the fabric. Adapters without a host, and routers, are left out, with a note.
    Result<Fabric> take();

  private:
    struct Device {
        Kind kind;
        std::string guid;
        std::string description;
    };
    struct Cable {
        std::size_t a, b;  ///< devices
        double gbytes_per_s;
    };

    std::size_t device(Kind kind, std::string_view guid);
    std::vector<int> nodes_of_devices(FabricBuilder& builder);

    std::vector<Device> devices_;
    std::unordered_map<std::string, std::size_t> device_of_guid_;
    std::vector<Cable> cables_;
    std::unordered_set<std::string> ports_seen_;
};

}  // namespace gradcoll
