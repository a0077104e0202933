#include "mpi/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/hash.hpp"

namespace gradcoll {
namespace {

struct Envelope {
    int integers = 0;
    int addresses = 0;
    int datatypes = 0;
    int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype datatype) {
    Envelope e;
    PMPI_Type_get_envelope(datatype, &e.integers, &e.addresses, &e.datatypes, &e.combiner);
    return e;
}

/// Contents holds the types that a derived type was made of, and frees those that
/// MPI_Type_get_contents made handles for.
class Contents {
  public:
    Contents(MPI_Datatype datatype, const Envelope& e)
        : integers_(static_cast<std::size_t>(e.integers)),
          addresses_(static_cast<std::size_t>(e.addresses)),
          datatypes_(static_cast<std::size_t>(e.datatypes), MPI_DATATYPE_NULL) {
        PMPI_Type_get_contents(datatype, e.integers, e.addresses, e.datatypes, integers_.data(),
                               addresses_.data(), datatypes_.data());
    }
    ~Contents() {
        for (MPI_Datatype& datatype : datatypes_)
            if (datatype != MPI_DATATYPE_NULL && !is_named(datatype)) PMPI_Type_free(&datatype);
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;
    /// Returns those that have data in the derived type.
    std::vector<MPI_Datatype> datatypes_with_data() const {
        std::vector<MPI_Datatype> found;
        for (std::size_t i = 0; i < datatypes_.size(); ++i)
            if (length_of_block(i) > 0 && has_data(datatypes_[i])) found.push_back(datatypes_[i]);
        return found;
    }

  private:
    static bool has_data(MPI_Datatype datatype) {
        const auto bytes = data_bytes(datatype);
        return bytes.ok() && *bytes > 0;
    }
    /// Only structures have several datatypes, each in a block of its own.
    int length_of_block(std::size_t i) const {
        return datatypes_.size() > 1 ? integers_[i + 1] : 1;
    }

    std::vector<int> integers_;
    std::vector<MPI_Aint> addresses_;
    std::vector<MPI_Datatype> datatypes_;
};

/// Calls `copy(first element, elements, bytes)` for parts that fit, as MPI_Pack counts bytes with
/// an int.
template <class Copy>
Status in_parts(MPI_Count count, MPI_Datatype datatype, Copy&& copy) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;
    const auto bytes = data_bytes(datatype);
    if (!bytes) return bytes.status();
    if (*bytes > most_at_once)
        return {Code::invalid_type,
                fmt::format("one element of the datatype holds {} bytes; allowed for derived types "
                            "is up to {}",
                            *bytes, most_at_once)};
    const auto part = static_cast<MPI_Count>(most_at_once / std::max<std::size_t>(*bytes, 1));
    for (MPI_Count done = 0; done < count; done += part) {
        const int elements = static_cast<int>(std::min(part, count - done));
        GRADCOLL_TRY(copy(done, elements, static_cast<std::size_t>(elements) * *bytes));
    }
    return {};
}

MPI_Aint mpi_extent(MPI_Datatype datatype) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(datatype, &lower_bound, &extent);
    return extent;
}

/// FromNull is a type like another, but its elements are counted from an address that is not null:
/// MPICH's MPI_Pack refuses MPI_BOTTOM, from which types with absolute addresses count.
class FromNull {
  public:
    explicit FromNull(MPI_Datatype datatype) {
        int one = 1;
        MPI_Aint back = -static_cast<MPI_Aint>(base_bytes);
        PMPI_Type_create_hindexed(1, &one, &back, datatype, &type_);
        PMPI_Type_commit(&type_);
    }
    ~FromNull() { PMPI_Type_free(&type_); }
    FromNull(const FromNull&) = delete;
    FromNull& operator=(const FromNull&) = delete;

    MPI_Datatype type() const { return type_; }
    static void* base() { return reinterpret_cast<void*>(base_bytes); }  // NOLINT: not followed

  private:
    static constexpr std::uintptr_t base_bytes = 4096;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

bool is_named(MPI_Datatype datatype) {
    const int combiner = envelope_of(datatype).combiner;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

std::optional<KnownType> uniform_element(MPI_Datatype datatype) {
    if (const auto known = known_type(datatype)) return known;
    if (is_named(datatype)) return std::nullopt;
    const Contents contents(datatype, envelope_of(datatype));
    std::optional<KnownType> common;
    for (const MPI_Datatype part : contents.datatypes_with_data()) {
        const auto element = uniform_element(part);
        if (!element || (common && common->type != element->type)) return std::nullopt;
        common = element;
    }
    return common;
}

bool is_plain(MPI_Datatype datatype) {
    if (known_type(datatype)) return true;
    const auto bytes = data_bytes(datatype);
    return is_named(datatype) && bytes.ok() &&
           mpi_extent(datatype) == static_cast<MPI_Aint>(*bytes);
}

Result<std::size_t> data_bytes(MPI_Datatype datatype) {
    MPI_Count bytes = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Type_size_x(datatype, &bytes), "MPI_Type_size_x"));
    return static_cast<std::size_t>(bytes);
}

std::size_t bytes_of_named(MPI_Datatype datatype) {
    struct Seen {
        MPI_Datatype datatype = MPI_DATATYPE_NULL;
        std::size_t bytes = 0;
    };
    constexpr int bits = 3;
    thread_local std::array<Seen, 1 << bits> seen;
    if (datatype == MPI_DATATYPE_NULL) return 0;
    Seen& last = seen[slot_of(std::hash<MPI_Datatype>{}(datatype), bits)];
    if (last.datatype == datatype) return last.bytes;
    if (!is_plain(datatype) || !is_named(datatype)) return 0;
    const auto bytes = data_bytes(datatype);
    if (!bytes) return 0;
    last = {datatype, *bytes};
    return *bytes;
}

Status pack(const void* from, MPI_Count count, MPI_Datatype datatype, std::byte* to,
            MPI_Comm comm) {
    if (from == nullptr && count > 0) {
        const FromNull shifted(datatype);
        return pack(FromNull::base(), count, shifted.type(), to, comm);
    }
    const MPI_Aint extent = mpi_extent(datatype);
    return in_parts(count, datatype, [&](MPI_Count first, int elements, std::size_t bytes) {
        const char* source = static_cast<const char*>(from) + static_cast<MPI_Aint>(first) * extent;
        int position = 0;
        const int code =
            PMPI_Pack(source, elements, datatype, to, static_cast<int>(bytes), &position, comm);
        to += bytes;
        return from_mpi(code, "MPI_Pack");
    });
}

Status unpack(const std::byte* from, MPI_Count count, MPI_Datatype datatype, void* to,
              MPI_Comm comm) {
    if (to == nullptr && count > 0) {
        const FromNull shifted(datatype);
        return unpack(from, count, shifted.type(), FromNull::base(), comm);
    }
    const MPI_Aint extent = mpi_extent(datatype);
    return in_parts(count, datatype, [&](MPI_Count first, int elements, std::size_t bytes) {
        char* target = static_cast<char*>(to) + static_cast<MPI_Aint>(first) * extent;
        int position = 0;
        const int code =
            PMPI_Unpack(from, static_cast<int>(bytes), &position, target, elements, datatype, comm);
        from += bytes;
        return from_mpi(code, "MPI_Unpack");
    });
}

namespace {

/// Returns whether all data of one element fill its extent from its first byte on, in whatever
/// order.
bool fills_its_extent(MPI_Datatype datatype, std::size_t data_bytes) {
    MPI_Aint lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
    PMPI_Type_get_extent(datatype, &lower_bound, &extent);
    PMPI_Type_get_true_extent(datatype, &true_lower_bound, &true_extent);
    const auto size = static_cast<MPI_Aint>(data_bytes);
    return lower_bound == 0 && true_lower_bound == 0 && extent == size && true_extent == size;
}

}  // namespace

/// Unpacks bytes that tell their places: first the low bits of these, then the higher ones.
Result<bool> lies_in_order(MPI_Datatype datatype, MPI_Comm comm) {
    const auto bytes = data_bytes(datatype);
    if (!bytes) return bytes.status();
    if (!fills_its_extent(datatype, *bytes)) return false;
    std::vector<std::byte> packed(*bytes);
    std::vector<std::byte> element(*bytes);
    for (int shift = 0; (*bytes - 1) >> shift != 0; shift += 8) {
        for (std::size_t i = 0; i < packed.size(); ++i)
            packed[i] = static_cast<std::byte>(i >> shift & 0xff);
        GRADCOLL_TRY(unpack(packed.data(), 1, datatype, element.data(), comm));
        if (element != packed) return false;
    }
    return true;
}

}  // namespace gradcoll
