"""Lowers Numba's intermediate code to few instructions of LLVM's.

Numba's own lowering is general: a loop over ``range`` takes sixty instructions and an array's item
thirty, most of which LLVM's optimiser removes again. The time of compiling grows with them.
"""

import operator
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, types
from numba.core.ir_utils import compute_cfg_from_blocks
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

_types: Any = types

_DATA, _SHAPE = 4, 5
"""Places in an array as a value of LLVM's, see Numba's ``ArrayModel``."""

_NO_ERROR = (0, -2)
"""Statuses of a function that returns: a value, and nothing."""


class LeanLower(Lower):  # type: ignore[misc]
    """Numba's lowering of functions that count no references."""

    def lower_normal_function(self, fndesc: Any) -> None:
        """Lower a function, and note whether it can raise."""
        super().lower_normal_function(fndesc)
        ends = [block.terminator for block in self.function.blocks]
        statuses = [end.operands[0] for end in ends if end is not None and end.opname == "ret"]
        self.library.raises = any(
            getattr(status, "constant", None) not in _NO_ERROR for status in statuses
        )

    def _find_singly_assigned_variable(self) -> None:
        """Find variables that can live in registers: their one assignment dominates all uses."""
        self._blk_local_varmap: dict[str, Any] = {}
        self._singly_assigned_vars: set[str] = set()
        if self.func_ir.func_id.is_generator or self._disable_sroa_like_opt:
            return
        assigned: dict[str, list[Any]] = {}
        used: dict[str, set[Any]] = {}
        for place, block in self.blocks.items():
            for statement in block.body:
                target = None
                if isinstance(statement, ir.Assign):
                    target = statement.target
                    assigned.setdefault(target.name, []).append(place)
                for variable in statement.list_vars():
                    if variable is not target:
                        used.setdefault(variable.name, set()).add(place)
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        for name, places in assigned.items():
            (first, *others) = places
            # Blocks are lowered in the order of their labels, so a use must not come earlier.
            if not others and all(
                place >= first and first in dominators[place] for place in used.get(name, ())
            ):
                self._singly_assigned_vars.add(name)

    def getvar(self, name: str) -> Any:
        """The place of a variable in memory."""
        self._alloca_var(name, self.typeof(name))
        return super().getvar(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value; there are no references to the old one to count."""
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Forget a variable."""
        if name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)
        self._alloca_var(name, self.typeof(name))

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """Lower a call; a ``range`` becomes its start, stop and step."""
        if not self._makes_range(expr):
            return super().lower_call(resty, expr)
        kind = resty.iterator_type.yield_type
        given = [self._cast_var(each, kind) for each in expr.args]
        zero, one = (self.context.get_constant(kind, each) for each in (0, 1))
        numbers = {1: [zero, *given, one], 2: [*given, one]}.get(len(given), given)
        return self._struct(resty, numbers)

    def _makes_range(self, expr: Any) -> bool:
        if not (isinstance(expr, ir.Expr) and expr.op == "call"):
            return False
        function = self.typeof(expr.func.name)
        plain = not expr.kws and expr.vararg is None
        return plain and getattr(function, "typing_key", None) is range

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression."""
        lower = _SHORT.get(expr.op)
        done = None if lower is None else lower(self, resty, expr)
        return super().lower_expr(resty, expr) if done is None else done

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Lower an operation on two numbers of one type to one instruction."""
        signature = self.fndesc.calltypes[expr]
        kind = signature.args[0]
        name, is_comparison = _INSTRUCTIONS.get((type(kind), op), ("", False))
        returned = _types.boolean if is_comparison else kind
        if not name or signature.args[1] != kind or signature.return_type != returned:
            return super().lower_binop(resty, expr, op)
        left, right = (self._cast_var(each, kind) for each in (expr.lhs, expr.rhs))
        if not is_comparison:
            # Numba, too, lets LLVM assume that sums of signed integers do not overflow.
            wraps_never = name in _MAY_OVERFLOW and kind.signed
            build = getattr(self.builder, name)
            result = build(left, right, flags=["nsw"]) if wraps_never else build(left, right)
        elif isinstance(kind, _types.Float):
            # NaN differs from all numbers.
            ordered = self.builder.fcmp_unordered if name == "!=" else self.builder.fcmp_ordered
            result = ordered(name, left, right)
        elif kind.signed:
            result = self.builder.icmp_signed(name, left, right)
        else:
            result = self.builder.icmp_unsigned(name, left, right)
        return self.context.cast(self.builder, result, returned, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> None:
        """Store an item of an array."""
        kind = self.typeof(target.name)
        address = self._address(target.name, index.name)
        if address is None:
            super().lower_setitem(target, index, value, signature)
            return
        item = self.context.cast(
            self.builder, self.loadvar(value.name), self.typeof(value.name), signature.args[2]
        )
        item = self.context.cast(self.builder, item, signature.args[2], kind.dtype)
        store_item(self.context, self.builder, kind, item, address)

    def _struct(self, kind: Any, values: Any) -> Any:
        made = llvm_ir.Constant(self.context.get_value_type(kind), llvm_ir.Undefined)
        for place, value in enumerate(values):
            made = self.builder.insert_value(made, value, place)
        return made

    def _part(self, expr: Any, place: int) -> Any:
        return self.builder.extract_value(self.loadvar(expr.value.name), place)

    def _pair_first(self, resty: Any, expr: Any) -> Any:
        return self._part(expr, 0)

    def _pair_second(self, resty: Any, expr: Any) -> Any:
        return self._part(expr, 1)

    def _getiter(self, resty: Any, expr: Any) -> Any:
        """An iterator over a range of step 1: the next number and how many are left."""
        if not isinstance(resty, _types.RangeIteratorType):
            return None
        called = self.func_ir._definitions.get(expr.value.name, [])
        if not (len(called) == 1 and self._makes_range(called[0]) and len(called[0].args) < 3):
            return None
        builder = self.builder
        start, stop, step = (self._part(expr, place) for place in range(3))
        difference, none = builder.sub(stop, start), start.type(0)
        count = builder.select(builder.icmp_signed(">", difference, none), difference, none)
        places = [cgutils.alloca_once(builder, start.type) for _ in range(2)]
        builder.store(start, places[0])
        builder.store(count, places[1])
        return self._struct(resty, [places[0], stop, step, places[1]])

    def _iternext(self, resty: Any, expr: Any) -> Any:
        if not isinstance(self.typeof(expr.value.name), _types.RangeIteratorType):
            return None
        builder = self.builder
        place, _, step, left = (self._part(expr, each) for each in range(4))
        count, value = builder.load(left), builder.load(place)
        builder.store(builder.sub(count, count.type(1)), left)
        builder.store(builder.add(value, step), place)
        return self._struct(resty, [value, builder.icmp_signed(">", count, count.type(0))])

    def _getattr(self, resty: Any, expr: Any) -> Any:
        is_shape = expr.attr == "shape" and isinstance(self.typeof(expr.value.name), _types.Array)
        return self._part(expr, _SHAPE) if is_shape else None

    def _getitem(self, resty: Any, expr: Any) -> Any:
        index = expr.index_var if expr.op == "static_getitem" else expr.index
        address = None if index is None else self._address(expr.value.name, index.name)
        if address is None:
            return None
        kind = self.typeof(expr.value.name)
        item = load_item(self.context, self.builder, kind, address)
        return self.context.cast(self.builder, item, kind.dtype, resty)

    def _address(self, name: str, index_name: str) -> Any:
        """The address of one item of a C-ordered array; None for slices and other indexing."""
        kind, index_kind = self.typeof(name), self.typeof(index_name)
        numbers = tuple(index_kind) if isinstance(index_kind, _types.BaseTuple) else (index_kind,)
        if not (
            type(kind) is _types.Array
            and kind.layout == "C"
            and len(numbers) == kind.ndim
            and all(isinstance(each, _types.Integer) for each in numbers)
            and not self.context.enable_boundscheck
        ):
            return None
        builder, array = self.builder, self.loadvar(name)
        index = self.loadvar(index_name)
        if isinstance(index_kind, _types.BaseTuple):
            indices = [builder.extract_value(index, place) for place in range(kind.ndim)]
        else:
            indices = [index]
        offset = None
        for place, (number, at) in enumerate(zip(numbers, indices, strict=True)):
            length = None
            wide = self.context.cast(
                builder, at, number, _types.intp if number.signed else _types.uintp
            )
            if number.signed and not (isinstance(wide, llvm_ir.Constant) and wide.constant >= 0):
                length = builder.extract_value(array, [_SHAPE, place])
                is_below = builder.icmp_signed("<", wide, wide.type(0))
                wide = builder.select(is_below, builder.add(wide, length), wide)
            if offset is not None:
                length = length or builder.extract_value(array, [_SHAPE, place])
                wide = builder.add(builder.mul(offset, length), wide)
            offset = wide
        return builder.gep(builder.extract_value(array, _DATA), [offset])


_COMPARISONS = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}

_INSTRUCTIONS = {
    **{
        (kind, compared): (sign, True)
        for kind in (_types.Integer, _types.Float)
        for compared, sign in _COMPARISONS.items()
    },
    (_types.Integer, operator.add): ("add", False),
    (_types.Integer, operator.sub): ("sub", False),
    (_types.Integer, operator.mul): ("mul", False),
    (_types.Integer, operator.and_): ("and_", False),
    (_types.Integer, operator.or_): ("or_", False),
    (_types.Integer, operator.xor): ("xor", False),
    (_types.Float, operator.add): ("fadd", False),
    (_types.Float, operator.sub): ("fsub", False),
    (_types.Float, operator.mul): ("fmul", False),
}
"""Instructions for two numbers of a type, and whether they compare them."""

_MAY_OVERFLOW = {"add", "sub", "mul"}

_SHORT = {
    "pair_first": LeanLower._pair_first,
    "pair_second": LeanLower._pair_second,
    "getiter": LeanLower._getiter,
    "iternext": LeanLower._iternext,
    "getattr": LeanLower._getattr,
    "getitem": LeanLower._getitem,
    "static_getitem": LeanLower._getitem,
}
"""Lowerings of expressions by their operation; one that returns None leaves it to Numba."""
