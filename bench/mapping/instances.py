# SPDX-License-Identifier: BSD-3-Clause
"""The communication patterns that mappers are compared on, made from nothing but a size.

    st    3-D stencil with 7 points, not periodic, ranks in row-major order
    sts   the same with shuffled ranks
    rgg   random geometric graph in the unit cube: an edge from every vertex to its 14 nearest neighbours, weights 1 to 199,
          ranks shuffled
    cg    the exchanges of NAS CG (NPB 3): recursive halving within a row of processes, and the transpose partner, ranks in
          their natural order

Each is a symmetric matrix without diagonal. The same name and size give the same matrix everywhere (numpy's PCG64).
"""
from collections import namedtuple

import numpy

#: Compressed rows: `column` and `value` of row r are those from start[r] up to start[r + 1].
Instance = namedtuple("Instance", "name size start column value")

SIDES = {1024: (8, 8, 16), 4096: (16, 16, 16), 8192: (16, 16, 32), 16384: (16, 32, 32), 32768: (32, 32, 32), 65536: (32, 32, 64)}
NAMES = ("sts", "st", "rgg", "cg")


def make(name, size):
    """The instance `name` of `size` ranks."""
    if name in ("st", "sts"):
        rows, columns, values = stencil(*SIDES[size])
    elif name == "rgg":
        rows, columns, values = geometric(size)
    elif name == "cg":
        rows, columns, values = conjugate_gradient(size)
    else:
        raise ValueError("no instance is called %r; there are %s" % (name, ", ".join(NAMES)))
    if name in ("sts", "rgg"):
        rank = numpy.random.default_rng(7).permutation(size)
        rows, columns = rank[rows], rank[columns]
    return compress("%s_%d" % (name, size), size, rows, columns, values)


def compress(name, size, rows, columns, values):
    """The symmetric matrix A + A^T without its diagonal, from the entries of A; those of one pair are added up."""
    both = numpy.concatenate((rows, columns)).astype(numpy.int64), numpy.concatenate((columns, rows)).astype(numpy.int64)
    key, place = numpy.unique(both[0] * size + both[1], return_inverse=True)
    value = numpy.bincount(place, weights=numpy.concatenate((values, values)), minlength=len(key))
    row, column = key // size, key % size
    keep = row != column
    start = numpy.concatenate(([0], numpy.cumsum(numpy.bincount(row[keep], minlength=size))))
    return Instance(name, size, start.astype(numpy.uint64), column[keep].astype(numpy.int32), value[keep].astype(numpy.uint64))


def stencil(x, y, z):
    """Every edge of a grid once, weight 100."""
    index = numpy.arange(x * y * z).reshape(x, y, z)
    rows = [numpy.take(index, range(index.shape[axis] - 1), axis=axis).ravel() for axis in range(3)]
    columns = [numpy.take(index, range(1, index.shape[axis]), axis=axis).ravel() for axis in range(3)]
    rows, columns = numpy.concatenate(rows), numpy.concatenate(columns)
    return rows, columns, numpy.full(len(rows), 100)


def conjugate_gradient(size):
    """What a process of NAS CG sends in one matrix-vector product; `size` is a power of two."""
    power = size.bit_length() - 1
    if size != 1 << power:
        raise ValueError("cg needs a power of two, not %d" % size)
    high = 1 << power // 2           # rows of processes
    wide = size // high              # processes in a row: as many, or twice as many
    rank = numpy.arange(size)
    pairs = [(rank, (rank // wide) * wide + ((rank % wide) ^ 1 << step)) for step in range(wide.bit_length() - 1)]
    if high == wide:
        partner = (rank % wide) * wide + rank // wide
    else:
        partner = 2 * ((rank // 2) % high * high + rank // 2 // high) + rank % 2
    pairs.append((rank, partner))
    rows, columns = (numpy.concatenate(part) for part in zip(*pairs))
    return rows, columns, numpy.full(len(rows), 100)


def geometric(size, neighbours=14):
    """Edges from every point to its nearest ones, in the order of their distance."""
    random = numpy.random.default_rng(1)
    points = random.random((size, 3))
    points = points[numpy.lexsort((points[:, 2], points[:, 1], points[:, 0]))]
    nearest = nearest_points(points, neighbours)
    values = random.integers(1, 200, size * neighbours)
    return numpy.repeat(numpy.arange(size), neighbours), nearest.ravel(), values


def nearest_points(points, count):
    """The `count` nearest other points of every point of the unit cube, by a grid of buckets.

    A point's candidates are those of its bucket and of all buckets around it; the answer holds if the last one chosen is no
    further than a bucket is wide. Points for which it does not hold are looked at again with wider buckets.
    """
    size = len(points)
    nearest = numpy.empty((size, count), dtype=numpy.int64)
    side = max(1, int((size / 12) ** (1 / 3)))
    left = numpy.arange(size)
    while len(left):
        found, certain = nearest_in_grid(points, left, count, side)
        nearest[left[certain]] = found[certain]
        left = left[~certain]
        side = max(1, side // 2) if side > 1 else 0
    return nearest


def nearest_in_grid(points, asked, count, side):
    """For the points `asked`: the nearest ones among those near by, and whether no other can be nearer."""
    size, buckets = len(points), max(side, 1)
    cell = numpy.minimum((points * buckets).astype(int), buckets - 1)
    number = (cell[:, 0] * buckets + cell[:, 1]) * buckets + cell[:, 2]
    order = numpy.argsort(number, kind="stable")
    begin = numpy.searchsorted(number[order], numpy.arange(buckets ** 3 + 1))
    found = numpy.zeros((len(asked), count), dtype=numpy.int64)
    certain = numpy.zeros(len(asked), dtype=bool)
    by_cell = asked[numpy.argsort(number[asked], kind="stable")]
    position = numpy.empty(size, dtype=numpy.int64)
    position[asked] = numpy.arange(len(asked))
    edges = numpy.flatnonzero(numpy.diff(number[by_cell])) + 1
    for group in numpy.split(by_cell, edges):
        near = around(cell[group[0]], buckets, begin, order)
        if len(near) <= count:
            continue
        squares = ((points[group, None, :] - points[None, near, :]) ** 2).sum(axis=2)
        squares[group[:, None] == near[None, :]] = numpy.inf
        chosen = numpy.argsort(squares, axis=1, kind="stable")[:, :count]
        found[position[group]] = near[chosen]
        farthest = numpy.take_along_axis(squares, chosen, axis=1)[:, -1]
        certain[position[group]] = farthest <= 1 / buckets ** 2 if side > 1 else True
    return found, certain


def around(cell, side, begin, order):
    """The points in a bucket and in those around it."""
    low, high = numpy.maximum(cell - 1, 0), numpy.minimum(cell + 2, side)
    parts = []
    for x in range(low[0], high[0]):
        for y in range(low[1], high[1]):
            row = (x * side + y) * side
            parts.append(order[begin[row + low[2]]:begin[row + high[2]]])
    return numpy.concatenate(parts)
