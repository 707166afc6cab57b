"""Eight float32 numbers at once, in compiled loops.

Numba does not turn a fixed number of running sums into vector instructions by itself; these functions name the vector
operations of LLVM, which become one or two instructions on any processor. Every operation is taken on each number by
itself, in the order that is written, so that results do not depend on how wide the processor's registers are.
"""

# ruff: noqa: ARG001  (Numba reads the names of what an intrinsic takes, and hands over their types.)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from goldassay.core.compiled import compiled_within

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 8

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_FLOATS, _INTS = ir.VectorType(_FLOAT, WIDTH), ir.VectorType(_INT, WIDTH)

# Cephes' polynomial for exp(r), |r| <= log(2) / 2, and log(2) in two parts.
_LOG2_E = np.float32(1.44269504)
_LOG_2_HIGH, _LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_POLYNOMIAL = tuple(
    np.float32(value)
    for value in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
)
_LEAST = np.float32(-87.0)
_ONE = np.float32(1)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _FLOATS)


def _place(builder: Any, pointer: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), _FLOATS.as_pointer())


@intrinsic
def address(_: Any, array: Any) -> Any:
    """Where an array's numbers begin. The array must outlive the address: a function takes it as an argument.

    Loops that hand arrays to others count the arrays' owners at each call, which took half the time of short rows.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    if array.layout != "C":
        raise TypingError("numbers that do not lie side by side have no address")
    return types.CPointer(array.dtype)(array), generate


@intrinsic
def behind(_: Any, pointer: Any, index: Any) -> Any:
    """The address of the number at `index` (uint64) behind an address."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.uint64), generate


@intrinsic
def number(_: Any, pointer: Any, index: Any) -> Any:
    """The number at `index` (uint64) behind an address; nothing checks that it is there."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.gep(arguments[0], [arguments[1]]))

    return pointer.dtype(pointer, types.uint64), generate


@intrinsic
def load(_: Any, pointer: Any, index: Any) -> Any:
    """The eight float32 numbers from `index` (uint64) behind an address on; nothing checks that they are there."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, *arguments), align=4)

    return _LANES(pointer, types.uint64), generate


@intrinsic
def store(_: Any, pointer: Any, index: Any, value: Any) -> Any:
    """Write eight float32 numbers from `index` (uint64) behind an address on; nothing checks that there is room."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(builder, *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(pointer, types.uint64, _LANES), generate


@intrinsic
def fetch(_: Any, pointer: Any, index: Any) -> Any:
    """Say that what is at `index` (uint64) behind an address is wanted soon, so that it is on its way."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), ir.IntType(8).as_pointer())
        taken = [ir.IntType(8).as_pointer(), _INT, _INT, _INT]
        function = builder.module.declare_intrinsic("llvm.prefetch", [taken[0]], ir.FunctionType(ir.VoidType(), taken))
        # To read, to keep in all caches, data.
        builder.call(function, [place, ir.Constant(_INT, 0), ir.Constant(_INT, 3), ir.Constant(_INT, 1)])
        return context.get_dummy_value()

    return types.void(pointer, types.uint64), generate


@intrinsic
def fill(_: Any, number: Any) -> Any:
    """Eight times the same float32."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(_FLOATS, ir.Undefined)
        one = builder.insert_element(undefined, arguments[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(one, undefined, ir.Constant(_INTS, [0] * WIDTH))

    return _LANES(types.float32), generate


@intrinsic
def first(_: Any, value: Any) -> Any:
    """The first of eight float32 numbers."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], ir.Constant(_INT, 0))

    return types.float32(_LANES), generate


def _arithmetic(name: str) -> Callable[..., Any]:
    @intrinsic
    def operation(_: Any, one: Any, two: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(*arguments)

        return _LANES(_LANES, _LANES), generate

    return operation


add, subtract, multiply, divide = map(_arithmetic, ("fadd", "fsub", "fmul", "fdiv"))


@intrinsic
def larger(_: Any, one: Any, two: Any) -> Any:
    """The larger of two, number by number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return _LANES(_LANES, _LANES), generate


@intrinsic
def _to_whole(_: Any, value: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        # At 1.5 * 2**23 float32 has no digits behind the point: adding it rounds to the nearest whole number.
        large = ir.Constant(_FLOATS, [12582912.0] * WIDTH)
        return builder.fsub(builder.fadd(arguments[0], large), large)

    return _LANES(_LANES), generate


@intrinsic
def _power_of_two(_: Any, exponent: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        # The exponent's bits of a float32 begin at bit 23, moved by 127.
        moved = builder.add(builder.fptosi(arguments[0], _INTS), ir.Constant(_INTS, [127] * WIDTH))
        return builder.bitcast(builder.shl(moved, ir.Constant(_INTS, [23] * WIDTH)), _FLOATS)

    return _LANES(_LANES), generate


@compiled_within
def exponential(value: Any) -> Any:
    """The exponential of eight numbers up to 88, each to a relative error of about 1e-7; below -87 as of -87."""
    value = larger(value, fill(_LEAST))
    whole = _to_whole(multiply(value, fill(_LOG2_E)))
    rest = subtract(subtract(value, multiply(whole, fill(_LOG_2_HIGH))), multiply(whole, fill(_LOG_2_LOW)))
    sum_ = fill(_POLYNOMIAL[0])
    for at in range(1, len(_POLYNOMIAL)):
        sum_ = add(multiply(sum_, rest), fill(_POLYNOMIAL[at]))
    sum_ = add(add(multiply(sum_, multiply(rest, rest)), rest), fill(_ONE))
    return multiply(sum_, _power_of_two(whole))
