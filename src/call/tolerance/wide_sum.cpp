#include "call/tolerance/wide_sum.hpp"

#include <new>

#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// Returns the MPI datatype of `type`, which is a wider one.
MPI_Datatype datatype_of(ElementType type) {
    return type == ElementType::f64 ? MPI_DOUBLE : MPI_FLOAT;
}

/// WideSum makes a sum in the wider type. All ranks take the same steps, as they find the same.
class WideSum {
  public:
    WideSum(CommContext& context, const CallShape& shape, const KeptTolerance& kept,
            const SumBuffers& buffers, const RunOnce& run)
        : context_(context),
          settings_(context.settings().current()),
          shape_(shape),
          kept_(kept),
          buffers_(buffers),
          run_(run) {}

    Status run() {
        GRADCOLL_TRY(
            take(wide_, WideVector::make(shape_.type, static_cast<std::size_t>(shape_.count))));
        GRADCOLL_TRY(run_once());
        if (kept_.budget.is_sure) return finish();
        double off = GRADCOLL_VALUE(look());
        if (kept_.budget.must_be_made_again(off)) {
            kept_.budget.for_encodings = 0;
            GRADCOLL_TRY(run_once());
            off = GRADCOLL_VALUE(look());
        }
        GRADCOLL_TRY(finish());
        return kept_.budget.allows(off) ? Status()
                                        : not_kept(kept_.budget, *settings_.tolerance, shape_, off);
    }

  private:
    Status run_once() {
        wide_.fill(buffers_.input);
        const CallShape shape = shape_of_adding(shape_, kept_.budget);
        return run_(wide_.data(), shape, kept_in(settings_, shape, kept_));
    }

    double round(void* output) const {
        return wide_.round(buffers_.output_elems, kept_.budget.off_before_rounding(), output);
    }

    Status finish() {
        round(buffers_.output);
        return {};
    }

    /// Returns how far the result would be off, on any rank.
    Result<double> look() const {
        double off = round(nullptr);
        if (!buffers_.is_alike)
            GRADCOLL_TRY(allreduce_going_on(&off, 1, MPI_DOUBLE, MPI_MAX,
                                            context_.identity().private_comm()));
        return off;
    }

    CommContext& context_;
    const Settings& settings_;
    const CallShape& shape_;
    KeptTolerance kept_;
    const SumBuffers& buffers_;
    const RunOnce& run_;
    WideVector wide_;
};

/// Has what it needs in a frame of its own: run_kept() is also on the stack of calls without it,
/// in threads of programs that may have the smallest stack there is.
[[gnu::noinline]] Status run_wide(CommContext& context, const CallShape& shape,
                                  const KeptTolerance& kept, const SumBuffers& buffers,
                                  const RunOnce& run) {
    return WideSum(context, shape, kept, buffers, run).run();
}

}  // namespace

Result<WideVector> WideVector::make(ElementType type, std::size_t count) {
    const std::size_t size_bytes = count * element_bytes(wider_type(type));
    WideVector made;
    made.type_ = type;
    made.count_ = count;
    made.data_.reset(new (std::nothrow) std::byte[size_bytes]);
    if (made.data_ == nullptr)
        return Status(Code::out_of_memory,
                      "gc_tolerance: no memory for the vector in a wider type");
    return made;
}

CallShape shape_of_adding(const CallShape& shape, const LossBudget& budget) {
    return classify(shape.count, datatype_of(budget.added_in), MPI_SUM).shape;
}

CallArguments arguments_in(void* wide, const CallArguments& arguments, ElementType type,
                           MPI_Count elems) {
    if (wide == nullptr) return arguments;
    CallArguments there = arguments;
    there.sendbuf = MPI_IN_PLACE;
    there.recvbuf = wide;
    there.count = elems;
    there.datatype = datatype_of(type);
    there.op = MPI_SUM;
    return there;
}

KeptTolerance kept_in(const Settings& settings, const CallShape& shape, const KeptTolerance& kept) {
    RouteQuestion question = kept.route.question;
    question.in_place = true;
    question.offers.drop(agents_way());
    question.left_out =
        kept.budget.for_encodings > 0 ? ExactReason::none : ExactReason::tolerance_too_small;
    KeptTolerance wide = kept;
    wide.route = route_of(settings, shape, question);
    return wide;
}

Status run_kept(CommContext& context, const CallShape& shape, const KeptTolerance& kept,
                const SumBuffers& buffers, const RunOnce& run) {
    if (kept.is_kept && kept.budget.added_in != shape.type)
        return run_wide(context, shape, kept, buffers, run);
    GRADCOLL_TRY(run(nullptr, shape, kept));
    if (!kept.is_kept || kept.budget.is_sure) return {};
    return not_kept(kept.budget, *context.settings().current().tolerance, shape,
                    kept.budget.additions);
}

}  // namespace gradcoll
