#include "api/inspect/foreseen.hpp"

#include "api/settings/info_keys.hpp"
#include "api/settings/process_tuning.hpp"
#include "collectives/predict/model.hpp"
#include "topology/sources/job/foreseen.hpp"

namespace gradcoll {

Route ForeseenComm::route_of(const CallShape& shape) const {
    RouteQuestion question;
    question.sums = shape.op == ReduceOp::sum;
    question.one_host =
        allows_one_host(text, settings) && !connects_hosts(tree.tree, tree.tree.root());
    question.comm_may_be_lossy = settings.compress_comms.allows("MPI_COMM_WORLD");
    return gradcoll::route_of(settings, shape, question);
}

Result<ForeseenComm> foreseen_comm(int ranks, MPI_Info info) {
    SettingsText text = SettingsText::from_environment();
    GRADCOLL_TRY(add_info(info, text));
    auto settings = Settings::parse(text);
    if (!settings) return settings.status();
    settings->tuning = tuning_of_process();
    auto tree = foreseen_tree(text[OptionId::topology], ranks);
    if (!tree) return tree.status();
    return ForeseenComm{std::move(*tree), std::move(text), std::move(*settings)};
}

}  // namespace gradcoll
