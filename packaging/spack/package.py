"""Gradcoll for Spack, which has not been built with it yet. It is in no repository of Spack's: put this folder into one of
yours as packages/gradcoll, and build from a checkout with `spack dev-build gradcoll@0.1.0` in it."""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Gradcoll(CMakePackage, CudaPackage):
    """MPI allreduce over discovered trees, with compression inside each hop."""

    version("0.1.0")

    variant("python", default=True, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("pugixml")
    depends_on("yaml-cpp")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("isa-l")
    depends_on("openssl")
    depends_on("py-mpi4py", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    generator("ninja")
    extends("python", when="+python")

    def cmake_args(self):
        args = [
            self.define("GRADCOLL_TESTS", "none"),
            self.define("GRADCOLL_DEV", False),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("GRADCOLL_CUDA", "cuda"),
        ]
        if self.spec.satisfies("~python"):
            args.append(self.define("GRADCOLL_PYTHON_DIR", "OFF"))
        else:
            args.append(self.define("GRADCOLL_PYTHON_DIR", python_platlib))
        return args
