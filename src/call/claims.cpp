#include "call/call.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "call/call_kinds.hpp"
#include "call/residual_handle.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view arguments_claim = "the outcome of the argument check";

std::string residual_text(const GC_Residual_s* residual) {
    if (residual == nullptr) return "none";
    const ResidualIdentity& identity = residual->residual->identity();
    return fmt::format("{} of {}", identity.count, name_of(identity.type));
}

/// Returns the text of a claim. It has only the first word of the message, which names the
/// argument: the rest may hold addresses, which differ between ranks.
std::string outcome_text(const Status& complaint) {
    if (complaint.ok()) return "nothing is wrong";
    return "wrong " + complaint.message().substr(0, complaint.message().find(' '));
}

std::string type_text(MPI_Datatype datatype) {
    if (datatype == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
    if (const auto known = known_type(datatype))
        return fmt::format("{}{}", known->kind == TypeKind::complex ? "complex " : "",
                           name_of(known->type));
    int size_bytes = 0;
    PMPI_Type_size(datatype, &size_bytes);
    return fmt::format("another type of {} bytes", size_bytes);
}

/// Returns the text that ranks compare. For an op of the program it leaves out the type's name, as
/// ranks may use types of one signature with different names.
std::string type_text(MPI_Datatype datatype, MPI_Op op) {
    if (datatype == MPI_DATATYPE_NULL || op == MPI_OP_NULL || is_predefined(op))
        return type_text(datatype);
    const auto bytes = data_bytes(datatype);
    return fmt::format("a type of {} bytes", bytes ? *bytes : 0);
}

std::string op_text(MPI_Op op) {
    if (op == MPI_OP_NULL) return "MPI_OP_NULL";
    const auto known = known_op(op);
    return known ? std::string(name_of(*known)) : "another op";
}

/// CallTexts holds count, datatype and op as texts; null handles have a text, too.
struct CallTexts {
    std::string count;
    std::string datatype;
    std::string op;
};

CallTexts texts_of(CallKind kind, const CallArguments& a) {
    if (has(kind, CallTrait::reduces))
        return {std::to_string(a.count), type_text(a.datatype, a.op), op_text(a.op)};
    const bool has_size = a.datatype != MPI_DATATYPE_NULL && a.count >= 0;
    return {has_size ? fmt::format("{} bytes", received_bytes(a)) : "none", "", ""};
}

}  // namespace

std::vector<Claim> claims_of(const Call& call, const Status& complaint, PassReason aliased) {
    const Entry& entry = *call.entry;
    CallTexts texts = texts_of(entry.kind, call.arguments);
    if (entry.unequal_blocks)
        texts.count = fmt::format("blocks of different sizes ({:x})", *entry.unequal_blocks);
    std::string outcome = outcome_text(complaint);
    if (complaint.ok() && aliased != PassReason::none) outcome = text_of(aliased);
    return {{"the call", entry.name},
            {gathers(entry.kind) ? "the size of a block" : "count", std::move(texts.count)},
            {"datatype", std::move(texts.datatype)},
            {"op", std::move(texts.op)},
            has(entry.kind, CallTrait::only_one_host)
                ? Claim{"root", std::to_string(call.arguments.root)}
                : Claim{"the residual", residual_text(entry.residual)},
            {arguments_claim, std::move(outcome)}};
}

std::vector<Claim> request_claims(const Call& call) {
    const CallShape& shape = call.shape;
    const std::string kind = shape.by_mpi()
                                 ? std::to_string(shape.kind)
                                 : fmt::format("{} of {}", name_of(shape.op), name_of(shape.type));
    return {{"count", std::to_string(shape.count)}, {"op and datatype", kind}};
}

Status agree_on_arguments(const Call& call, const Status& mine) {
    std::vector<Claim> claims = request_claims(call);
    claims.push_back({arguments_claim, outcome_text(mine)});
    return agree_on(call.context->identity().private_comm(), claims);
}

}  // namespace gradcoll
