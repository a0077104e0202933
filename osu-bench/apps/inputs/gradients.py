"""Conjugate gradients for a 2-D Laplacian, cut in strips among the ranks: mpi4py with numpy arrays."""
import numpy as np
from mpi4py import MPI

N, STEPS = 96, 400
comm = MPI.COMM_WORLD
rows = N // comm.size + (comm.rank < N % comm.size)
above, below = comm.rank - 1, comm.rank + 1


def product(x):
    wide = np.zeros((rows + 2, N))
    wide[1:-1] = x
    for to, row, came, place in ((above, 1, below, -1), (below, -2, above, 0)):
        comm.Sendrecv(wide[row].copy(), to if 0 <= to < comm.size else MPI.PROC_NULL, recvbuf=wide[place],
                      source=came if 0 <= came < comm.size else MPI.PROC_NULL)
    y = 4 * x - wide[:-2] - wide[2:]
    y[:, 1:] -= x[:, :-1]
    y[:, :-1] -= x[:, 1:]
    return y


def dot(a, b):
    total = np.empty(1)
    comm.Allreduce(np.array([np.vdot(a, b)]), total)
    return total[0]


x, r = np.zeros((rows, N)), np.ones((rows, N))
p, rr = r.copy(), dot(r, r)
for step in range(STEPS):
    q = product(p)
    alpha = rr / dot(p, q)
    x += alpha * p
    r -= alpha * q
    rr, before = dot(r, r), rr
    p = r + rr / before * p
    if rr < 1e-12:
        break
norm = dot(x, x) ** 0.5
if comm.rank == 0:
    print(f"steps {step + 1}, residual {rr:.3e}, norm {norm:.10e}")
