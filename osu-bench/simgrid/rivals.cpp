// rivals.cpp - SimGrid's own allreduce algorithms.
#include "rivals.hpp"

#include <smpi/smpi.h>

/// SMPI calls this for --cfg=smpi/allreduce:NAME. It is exported by the library, but in no
/// installed header; the setting itself is read only by smpirun's start of a program.
namespace simgrid::smpi::colls {
void set_allreduce(const std::string& name);
}

namespace gradcoll::simulate {

const std::vector<std::string>& rival_names() {
    static const std::vector<std::string> names{"ompi",
                                                "lr",
                                                "rab",
                                                "rab1",
                                                "rab2",
                                                "rab_rdb",
                                                "rdb",
                                                "redbcast",
                                                "mpich",
                                                "mvapich2",
                                                "impi",
                                                "mvapich2_rs",
                                                "ompi_ring_segmented",
                                                "smp_binomial",
                                                "smp_rdb",
                                                "smp_rsag",
                                                "smp_rsag_lr",
                                                "smp_rsag_rab",
                                                "smp_binomial_pipeline"};
    return names;
}

void run_rival(const std::string& name, const std::int32_t* input, std::int32_t* output,
               std::size_t count) {
    simgrid::smpi::colls::set_allreduce(name);
    MPI_Allreduce(input, output, static_cast<int>(count), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace gradcoll::simulate
