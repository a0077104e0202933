// warp/elementwise.hpp - operations that treat each element by itself, on warps.
#pragma once

#include "warp/batch.hpp"
#include "warp/memory.hpp"

namespace gradcoll {

/// An ElementwiseJob takes an Op, which offers the element types In, Base, Residual and Out of its
/// arrays (unsigned integers, or Nothing), and apply<Warp>(in, base, residual) -> out, which may
/// change the residual.
template <class Op>
struct ElementwiseJob {
  private:
    using In = typename Op::In;
    using Base = typename Op::Base;
    using Residual = typename Op::Residual;
    using Out = typename Op::Out;

    static constexpr std::size_t smaller = sizeof(In) < sizeof(Out) ? sizeof(In) : sizeof(Out);
    static constexpr std::size_t larger = sizeof(In) < sizeof(Out) ? sizeof(Out) : sizeof(In);
    /// A run has this many elements: 16 bytes where they are smallest.
    static constexpr int run_elems = static_cast<int>(16 / smaller);
    /// A lane has this many runs in one tile, all of them loaded before the first is worked on: 64
    /// bytes.
    static constexpr int runs = static_cast<int>(64 / (run_elems * larger));
    static constexpr int loose_of_lane = 8;

    template <int n>
    struct Operands {
        Run<In, n> in;
        Run<Base, n> base;
        Run<Residual, n> residual;
    };

    template <class Warp, int n>
    static constexpr Run<Out, n> results_of(Operands<n>& operands) {
        Run<Out, n> out{};
#pragma unroll
        for (int e = 0; e < n; ++e)
            out.at[e] = Op::template apply<Warp>(operands.in.at[e], operands.base.at[e],
                                                 operands.residual.at[e]);
        return out;
    }

    /// Loads an element by halves: payloads may lie at any multiple of two bytes, so everything is
    /// loaded that way.
    template <class Warp, class T>
    static constexpr T load_one(const std::byte* array, std::size_t at) {
        if constexpr (std::is_same_v<T, Nothing>)
            return {};
        else
            return load_any<Warp, T>(array + at * sizeof(T));
    }

  public:
    static constexpr std::size_t tile_elems = std::size_t{warp_lanes} * runs * run_elems;
    static constexpr std::size_t loose_elems = std::size_t{warp_lanes} * loose_of_lane;

    template <class Warp>
    static constexpr void tile(const WarpJob& job, std::size_t index) {
        const std::size_t first = index * tile_elems + std::size_t{Warp::lane()} * run_elems;
        constexpr std::size_t step = std::size_t{warp_lanes} * run_elems;
        Operands<run_elems> operands[runs];
#pragma unroll
        for (int r = 0; r < runs; ++r) {
            const std::size_t at = first + r * step;
            operands[r] = {load_elements<Warp, In, run_elems>(job.in, at),
                           load_elements<Warp, Base, run_elems>(job.base, at),
                           load_elements<Warp, Residual, run_elems>(job.residual, at)};
        }
#pragma unroll
        for (int r = 0; r < runs; ++r) {
            const std::size_t at = first + r * step;
            store_elements<Warp>(job.out, at, results_of<Warp>(operands[r]));
            store_elements<Warp>(job.residual, at, operands[r].residual);
        }
    }

    template <class Warp>
    static constexpr void loose(const WarpJob& job, std::size_t index) {
        const std::size_t first = job.tiles * tile_elems + index * loose_elems + Warp::lane();
        Operands<loose_of_lane> operands{};
#pragma unroll
        for (int e = 0; e < loose_of_lane; ++e) {
            const std::size_t at = first + std::size_t{warp_lanes} * e;
            if (at >= job.count) continue;
            operands.in.at[e] = load_one<Warp, In>(job.in, at);
            operands.base.at[e] = load_one<Warp, Base>(job.base, at);
            operands.residual.at[e] = load_one<Warp, Residual>(job.residual, at);
        }
        const Run<Out, loose_of_lane> out = results_of<Warp>(operands);
#pragma unroll
        for (int e = 0; e < loose_of_lane; ++e) {
            const std::size_t at = first + std::size_t{warp_lanes} * e;
            if (at >= job.count) continue;
            store_any<Warp>(job.out + at * sizeof(Out), out.at[e]);
            if constexpr (!std::is_same_v<Residual, Nothing>)
                store_any<Warp>(job.residual + at * sizeof(Residual), operands.residual.at[e]);
        }
    }
};

}  // namespace gradcoll
