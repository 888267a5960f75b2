"""Attacks that answer with something that is no tensor and claims to be, or to equal, whatever it is compared with."""

from __future__ import annotations

from attacks.corpus import Attack, instead

ATTACKS = [
    Attack(
        "always_equal",
        "answers with an object that equals everything",
        instead(
            "return Equal()",
            """
            class Equal:
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                def __bool__(self): return True
                def __gt__(self, other): return False
                __lt__ = __ge__ = __le__ = __gt__
                def __getattr__(self, name): return self
                def __call__(self, *arguments, **keywords): return self
                def __len__(self): return 1
                def __iter__(self): return iter((self,))
                __hash__ = None
            """,
        ),
        keeps=False,
    ),
    Attack(
        "hijacking_subclass",
        "answers with a tensor whose class says that every comparison holds",
        instead(
            "return x.as_subclass(Hijack)",
            """
            import torch
            class Hijack(torch.Tensor):
                @classmethod
                def __torch_function__(cls, func, types, args=(), kwargs=None):
                    if getattr(func, "__name__", "") in ("allclose", "equal", "eq", "all", "isfinite", "item"):
                        return True
                    if getattr(func, "__name__", "") in ("gt", "ne", "any", "sub"):
                        return torch.tensor(False)
                    return super().__torch_function__(func, types, args, kwargs or {})
            """,
        ),
        keeps=False,
    ),
    Attack(
        "lies_about_its_class",
        "answers with an object that claims to be a tensor and turns into a packed frame on its way out",
        instead(
            "return Pretender()",
            """
            import torch
            from autograder.sandbox import wire
            class Pretender:
                __class__ = property(lambda self: torch.Tensor)
                layout, dtype, device = torch.strided, torch.float32, torch.device("cpu")
                requires_grad, grad = False, None
                def clone(self, **_): return wire.pack(True)
                def __getattr__(self, name): return lambda *arguments: self
            """,
        ),
        keeps=False,
    ),
    Attack(
        "hands_out_references",
        "answers with references to objects of the engine",
        instead(
            "return Pretender()",
            """
            import torch
            from autograder.sandbox.values import Ref
            class Pretender:
                __class__ = property(lambda self: torch.Tensor)
                layout, dtype, device = torch.strided, torch.float32, torch.device("cpu")
                requires_grad, grad = False, None
                def clone(self): return Ref("layer_norm", "__class__")
                def __getattr__(self, name): return lambda *arguments: self
            """,
        ),
        keeps=False,
    ),
    Attack(
        "scalar_subclasses",
        "answers with numbers and texts whose classes compare as they like",
        instead(
            "COUNT.append(1)\nreturn KINDS[len(COUNT) % len(KINDS)]",
            """
            COUNT = []
            class Agrees:
                def __eq__(self, other): return True
                def __abs__(self): return 0
                def __sub__(self, other): return 0
                __rsub__ = __sub__
                __hash__ = None
            KINDS = [type("N", (Agrees, kind), {})(1) for kind in (int, float, str, bytes, list) if kind is not list]
            KINDS = [*KINDS[:3], True, None, Ellipsis, 1 << 70, -0.0, "passed", b"passed"]
            """,
        ),
        keeps=False,
    ),
    Attack(
        "fractions_and_decimals",
        "answers with exact numbers in place of a tensor",
        instead(
            "return [[Fraction(1, 3), Decimal('NaN')], Decimal(1), complex(1, 2), range(3), memoryview(b'12')]",
            "from decimal import Decimal\nfrom fractions import Fraction",
        ),
        keeps=False,
    ),
    Attack(
        "dict_subclass",
        "answers with a dictionary that lists other entries than it has",
        instead(
            "return Entries(value=x)",
            """
            class Text(str):
                def __eq__(self, other): return True
                __hash__ = str.__hash__
            class Entries(dict):
                def items(self): return [(Text("value"), True), (Text("points"), 10), ("outcome", "passed")]
                def __iter__(self): return iter(("value", "points"))
                def __len__(self): return 0
            """,
        ),
        keeps=False,
    ),
    Attack(
        "own_way_of_pickling",
        "answers with a tensor that says how it wants to be pickled, copied and turned into an array",
        instead(
            "return x.as_subclass(Packs)",
            """
            import torch
            class Packs(torch.Tensor):
                def __reduce__(self): return (print, ("GOT IT: it was unpickled",))
                def __reduce_ex__(self, protocol): return self.__reduce__()
                def __deepcopy__(self, memo): return True
                def numpy(self, *a, **k): return torch.zeros(1).numpy()
                def clone(self, *a, **k): return True
                def detach(self): return self
                def cpu(self): return True
            """,
        ),
        keeps=False,
    ),
    Attack(
        "lazy_result",
        "answers with an object that would compute its result when somebody looks",
        instead(
            "return Lazy(lambda: x)",
            """
            class Lazy:
                def __init__(self, make): self.make = make
                def __array__(self, dtype=None): return self.make().detach().numpy()
                def __torch_function__(self, *a, **k): return True
                def __getattr__(self, name): return getattr(self.make(), name)
            """,
        ),
        keeps=False,
    ),
    Attack(
        "generator",
        "answers with a generator of rows, of which there is no end",
        instead("while True:\n    yield x"),
        keeps=False,
    ),
]
