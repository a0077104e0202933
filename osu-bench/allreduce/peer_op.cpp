// peer_op.cpp - finds MPI's ops by name, and makes user ops for the 16-bit floats that MPI does not
// know.
#include "peer_op.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "half.hpp"

namespace gradcoll::bench {
namespace {

struct Maximum {
    float operator()(float a, float b) const { return std::max(a, b); }
};
struct Minimum {
    float operator()(float a, float b) const { return std::min(a, b); }
};

template <class T, class Operation>
void combine(void* in, void* inout, int* count, MPI_Datatype* /*datatype*/) {
    const T* __restrict a = static_cast<const T*>(in);
    T* __restrict b = static_cast<T*>(inout);
    for (int i = 0; i < *count; ++i) {
        store(Operation{}(to_float(a[i]), to_float(b[i])), b[i]);
    }
}

struct NamedOp {
    std::string_view name;
    MPI_Op (*mpi_op)();
    MPI_User_function* on_half;
    MPI_User_function* on_bf16;
};

template <class Operation>
constexpr NamedOp named_op(std::string_view name, MPI_Op (*mpi_op)()) {
    return {name, mpi_op, combine<Float16, Operation>, combine<BFloat16, Operation>};
}

// These are functions because MPI's handles are no constants before MPI_Init in every MPI.
MPI_Op sum_op() {
    return MPI_SUM;
}
MPI_Op prod_op() {
    return MPI_PROD;
}
MPI_Op min_op() {
    return MPI_MIN;
}
MPI_Op max_op() {
    return MPI_MAX;
}

const std::array ops = {
    named_op<std::plus<float>>("sum", sum_op),
    named_op<std::multiplies<float>>("prod", prod_op),
    named_op<Minimum>("min", min_op),
    named_op<Maximum>("max", max_op),
};

const NamedOp* find(std::string_view name) {
    const auto found =
        std::find_if(ops.begin(), ops.end(), [&](const NamedOp& op) { return op.name == name; });
    return found == ops.end() ? nullptr : found;
}

}  // namespace

MPI_Op find_op(std::string_view name) {
    const NamedOp* op = find(name);
    return op == nullptr ? MPI_OP_NULL : op->mpi_op();
}

std::vector<std::string> op_names() {
    std::vector<std::string> names;
    for (const NamedOp& op : ops) {
        names.emplace_back(op.name);
    }
    return names;
}

PeerOp::PeerOp(const Element& element, std::string_view op_name) : op_(find_op(op_name)) {
    if (element.has_mpi_ops || op_ == MPI_OP_NULL) {
        return;
    }
    const NamedOp& named = *find(op_name);
    MPI_Op_create(element.name == "half" ? named.on_half : named.on_bf16, 1, &op_);
    owned_ = true;
}

PeerOp::~PeerOp() {
    if (owned_) {
        MPI_Op_free(&op_);
    }
}

}  // namespace gradcoll::bench
