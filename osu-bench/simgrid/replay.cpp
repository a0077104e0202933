// replay.cpp - one rank walks its plan in simulated time.
#include "replay.hpp"

#include <smpi/smpi.h>

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <vector>

#include "runtime/program.hpp"
#include "runtime/ready_steps.hpp"

namespace gradcoll::simulate {
namespace {

/// So much local work is done between two looks at the network, as in runtime/chunk_window.cpp.
constexpr std::int64_t local_bytes_per_turn = 32768;
constexpr std::int64_t least_elems_per_step = 256;

Program program_of(const Schedule& schedule, std::size_t elem_bytes) {
    Result<Program> program = Program::make(schedule, elem_bytes);
    if (!program.ok()) throw std::runtime_error(program.status().message());
    return std::move(*program);
}

/// A Place is one place in the window of chunks.
struct Place {
    explicit Place(std::size_t steps) : ready(steps) {}

    ReadySteps ready;
    std::vector<std::uint32_t> held;  ///< messages that are ready, but wait for the chunk before
    std::int64_t chunk = 0;

    const Step& step(std::uint32_t index) const { return ready.program().schedule().steps[index]; }
    void begin(const Program& of, std::int64_t number) {
        ready.begin(of);
        held.clear();
        chunk = number;
    }
};

class Walk {
  public:
    Walk(const Plan& plan, const StepSpeeds& speeds, const Way& way, std::byte* buffer)
        : plan_(plan),
          speeds_(speeds),
          way_(way),
          buffer_(buffer),
          body_(program_of(plan.body, plan.spec.elem_bytes)),
          tail_(program_of(plan.tail, plan.spec.elem_bytes)),
          places_(static_cast<std::size_t>(
                      std::clamp<std::int64_t>(plan.chunk_count, 1, way.chunks_in_flight)),
                  Place(std::max(body_.step_count(), tail_.step_count()))) {}

    void run() {
        while (oldest_ < plan_.chunk_count) {
            begin_chunks();
            for (std::int64_t chunk = oldest_; chunk < next_; ++chunk) start_messages(place(chunk));
            take_completions();
            run_locals();
            while (oldest_ < next_ && place(oldest_).ready.all_finished()) ++oldest_;
        }
    }

  private:
    struct InFlight {
        Place* place;
        std::uint32_t step;
    };

    Place& place(std::int64_t chunk) {
        return places_[static_cast<std::size_t>(chunk) % places_.size()];
    }
    bool any_local() {
        for (std::int64_t chunk = oldest_; chunk < next_; ++chunk)
            if (!place(chunk).ready.locals().empty()) return true;
        return false;
    }
    void begin_chunks();
    void start_messages(Place& at);
    bool is_held(const Place& at, std::uint32_t message);
    void start_message(Place& at, std::uint32_t index);
    void take_completions();
    void run_locals();
    std::int64_t run_local(Place& at);

    const Plan& plan_;
    const StepSpeeds& speeds_;
    Way way_;
    std::byte* buffer_;
    Program body_;
    Program tail_;
    std::vector<Place> places_;
    std::vector<MPI_Request> requests_;
    std::vector<InFlight> in_flight_;
    std::vector<int> done_;
    std::int64_t oldest_ = 0;
    std::int64_t next_ = 0;
    bool time_passed_ = true;  ///< whether time has passed since the network was last polled
};

void Walk::begin_chunks() {
    while (next_ < plan_.chunk_count &&
           next_ - oldest_ < static_cast<std::int64_t>(places_.size())) {
        const bool is_tail = &plan_.schedule_of(next_) == &plan_.tail;
        place(next_).begin(is_tail ? tail_ : body_, next_);
        ++next_;
    }
}

/// Starts messages as ChunkRun::start_messages does. Receives of held sends wait, too: the time is
/// the same, and SMPI has fewer requests to look through.
void Walk::start_messages(Place& at) {
    std::size_t still_held = 0;
    for (const std::uint32_t index : at.held) {
        if (is_held(at, index))
            at.held[still_held++] = index;
        else
            start_message(at, index);
    }
    at.held.resize(still_held);
    while (!at.ready.messages().empty()) {
        const std::uint32_t index = at.ready.messages().pop();
        if (is_held(at, index))
            at.held.push_back(index);
        else
            start_message(at, index);
    }
}

bool Walk::is_held(const Place& at, std::uint32_t message) {
    if (!way_.paced || at.chunk == oldest_) return false;
    const Place& before = place(at.chunk - 1);
    return &before.ready.program() == &at.ready.program() && !before.ready.has_finished(message);
}

void Walk::start_message(Place& at, std::uint32_t index) {
    const Step& step = at.step(index);
    const auto bytes =
        static_cast<int>(message_bytes(step, at.ready.program().schedule(), plan_.spec.elem_bytes));
    const auto window = static_cast<std::int64_t>(places_.size());
    const auto tag = static_cast<int>(at.chunk % window) * static_cast<int>(plan_.stage_count) +
                     static_cast<int>(step.stage);
    MPI_Request request = MPI_REQUEST_NULL;
    if (step.kind == StepKind::send)
        MPI_Isend(buffer_, bytes, MPI_BYTE, step.peer, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer_, bytes, MPI_BYTE, step.peer, tag, MPI_COMM_WORLD, &request);
    requests_.push_back(request);
    in_flight_.push_back({&at, index});
}

/// Takes completions. Waits only if there is nothing else to do; polls only if something may have
/// happened.
void Walk::take_completions() {
    if (requests_.empty()) return;
    const bool busy = any_local();
    if (busy && !time_passed_) return;
    done_.resize(requests_.size());
    int count = 0;
    const auto posted = static_cast<int>(requests_.size());
    if (busy)
        MPI_Testsome(posted, requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    else
        MPI_Waitsome(posted, requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    time_passed_ = false;
    if (count <= 0) return;
    std::sort(done_.begin(), done_.begin() + count);
    for (int i = 0; i < count; ++i) {
        const InFlight& message =
            in_flight_[static_cast<std::size_t>(done_[static_cast<std::size_t>(i)])];
        message.place->ready.finish(message.step);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0, next_done = 0; i < requests_.size(); ++i) {
        if (next_done < static_cast<std::size_t>(count) &&
            done_[next_done] == static_cast<int>(i)) {
            ++next_done;
            continue;
        }
        requests_[kept] = requests_[i];
        in_flight_[kept++] = in_flight_[i];
    }
    requests_.resize(kept);
    in_flight_.resize(kept);
}

void Walk::run_locals() {
    std::int64_t elems_left = local_bytes_per_turn / plan_.spec.elem_bytes;
    for (std::int64_t chunk = oldest_; chunk < next_ && elems_left > 0; ++chunk) {
        Place& at = place(chunk);
        while (elems_left > 0 && !at.ready.locals().empty()) {
            elems_left -= std::max(run_local(at), least_elems_per_step);
            start_messages(at);
        }
    }
}

std::int64_t Walk::run_local(Place& at) {
    const std::uint32_t index = at.ready.locals().pop();
    const Step& step = at.step(index);
    const double speed = speeds_.of(step.kind);
    if (speed > 0) {
        const double bytes = static_cast<double>(step.range.size()) * plan_.spec.elem_bytes;
        simgrid::s4u::this_actor::sleep_for(bytes / (speed * 1e9));
        time_passed_ = true;
    }
    at.ready.finish(index);
    return step.range.size();
}

}  // namespace

double StepSpeeds::of(StepKind kind) const {
    switch (kind) {
        case StepKind::encode:
            return encode;
        case StepKind::decode:
            return decode;
        case StepKind::decode_reduce:
            return decode_reduce;
        case StepKind::reduce:
            return reduce;
        case StepKind::copy:
            return copy;
        case StepKind::send:
        case StepKind::recv:
            break;
    }
    return 0;
}

void replay(const Plan& plan, const StepSpeeds& speeds, const Way& way, std::byte* buffer) {
    Walk(plan, speeds, way, buffer).run();
}

std::size_t largest_message_bytes(const Plan& plan) {
    std::size_t largest = 0;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps)
            if (is_message(step.kind))
                largest = std::max<std::size_t>(
                    largest, message_bytes(step, *schedule, plan.spec.elem_bytes));
    return largest;
}

}  // namespace gradcoll::simulate
