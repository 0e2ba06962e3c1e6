"""Bytes read as 64-bit words, so that a whole rack is copied, subtracted or compared as seven words."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from okey_env.engine._jit import JIT_IS_OFF

_BYTES = 8
_make_array: Any = arrayobj.make_array
_populate_array: Any = arrayobj.populate_array
_alloca_once: Any = cgutils.alloca_once


def _plain_words(array: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    return array.view(np.uint64)


@intrinsic
def _compiled_words(context: Any, array: Any) -> Any:
    """The same memory as another array type; the checks in numba's own `view` take longer than a copy would."""
    words = types.Array(types.uint64, array.ndim, "C")

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _make_array(signature.args[0])(context, builder, arguments[0])
        target = _make_array(words)(context, builder)
        shape = [builder.extract_value(source.shape, i) for i in range(array.ndim)]
        strides = [builder.extract_value(source.strides, i) for i in range(array.ndim)]
        size = context.get_constant(types.intp, _BYTES)
        shape[-1] = builder.sdiv(shape[-1], size)
        strides[-1] = size
        data = builder.bitcast(source.data, target.data.type)
        _populate_array(target, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return target._getvalue()

    return words(array), build


words: Any = _plain_words if JIT_IS_OFF else _compiled_words
"""`(…, 8 n)` bytes of a record as `(…, n)` uint64 over the same memory; used inside kernels."""


def _plain_put_word(array: npt.NDArray[np.int8], index: int, word: np.uint64) -> None:
    array[index : index + _BYTES] = np.frombuffer(np.uint64(word).tobytes(), np.int8)


@intrinsic
def _compiled_put_word(context: Any, array: Any, index: Any, word: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = _make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(target.data, [arguments[1]])
        pointer = builder.bitcast(address, arguments[2].type.as_pointer())
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), build


put_word: Any = _plain_put_word if JIT_IS_OFF else _compiled_put_word
"""`put_word(array, index, word)`: write eight bytes of a one-dimensional byte array at once, from any index on."""


def _plain_get_word(array: npt.NDArray[np.uint8], index: int) -> np.uint64:
    return array[index : index + _BYTES].view(np.uint64)[0]


@intrinsic
def _compiled_get_word(context: Any, array: Any, index: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(source.data, [arguments[1]])
        pointer = builder.bitcast(address, context.get_value_type(types.uint64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.intp), build


get_word: Any = _plain_get_word if JIT_IS_OFF else _compiled_get_word
"""`get_word(array, index)`: read eight bytes of a one-dimensional byte array as a uint64, from any index on."""


def _plain_scratch(size: int) -> npt.NDArray[np.uint64]:
    return np.empty(size, np.uint64)


@intrinsic(prefer_literal=True)
def _compiled_scratch(context: Any, size: Any) -> Any:
    words = types.Array(types.uint64, 1, "C")

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = _make_array(words)(context, builder)
        count = signature.args[0].literal_value
        data = _alloca_once(builder, context.get_value_type(types.uint64), count)
        shape, strides = [context.get_constant(types.intp, count)], [context.get_constant(types.intp, _BYTES)]
        _populate_array(target, data=data, shape=shape, strides=strides, itemsize=strides[0], meminfo=None)
        return target._getvalue()

    return words(size), build


scratch: Any = _plain_scratch if JIT_IS_OFF else _compiled_scratch
"""`scratch(size)`: uint64 `[size]` on the stack, uninitialised, valid until the kernel returns; `size`: a constant."""
