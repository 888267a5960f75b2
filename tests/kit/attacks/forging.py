"""Attacks that want points for wrong answers, and odd but right answers that must keep theirs.

Most are the wrong answer `return x` with a trick around it. A few try to have the grader itself tell what a hidden check
asked: those say GOT IT in a text that the receipt carries.
"""

from __future__ import annotations

from attacks.corpus import Attack, at_import, in_call, instead

WIRE = """
import os, struct, sys
from autograder.sandbox import operations, wire, worker

def send(value):
    os.write(3, wire.encode(value))
"""
WALK = """
import sys

def local_of_engine(function, name):
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function and name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back
"""
ENDING = "return _right(x, gamma, beta, eps)"

NOT_TENSORS = [
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
                def clone(self): return wire.packed(True)
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

TENSORS = [
    Attack(
        "not_a_number",
        "answers with NaN, which is not larger than any tolerance",
        instead("return x * float('nan')"),
        keeps=False,
    ),
    Attack("infinite", "answers with infinity", instead("return x * 0 + float('inf')"), keeps=False),
    Attack(
        "zero_dimensional",
        "answers with one number that broadcasts against everything",
        instead("return x.mean()"),
        keeps=False,
    ),
    Attack(
        "half_precision",
        "answers with the right numbers in another dtype",
        instead(f"{ENDING.replace('return', 'y =')}\nreturn y.to(torch.float16)"),
        keeps=False,
    ),
    Attack(
        "half_precision_cast_back",
        "computes with 8 bits of precision and casts the result back",
        instead("parts = [t.to(torch.bfloat16) for t in (x, gamma, beta)]\nreturn _right(*parts, eps).to(x.dtype)"),
        keeps=False,
    ),
    Attack(
        "odd_tensors",
        "answers with sparse, complex, meta, quantized, nested and bit tensors in turn",
        instead(
            """
            COUNT.append(1)
            flat = x.detach().float()
            return [
                lambda: flat.to_sparse(),
                lambda: torch.complex(flat, flat),
                lambda: flat.to("meta"),
                lambda: torch.quantize_per_tensor(flat, 0.1, 0, torch.quint8),
                lambda: torch.nested.nested_tensor([flat, flat]),
                lambda: flat.to_mkldnn(),
                lambda: flat.to(torch.float8_e4m3fn),
                lambda: torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1)),
            ][len(COUNT) % 8]()
            """,
            "COUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "huge_but_empty",
        "answers with tensors of no elements and absurd shapes",
        instead("return torch.empty((2**39, 0, 2**20) if x.ndim > 1 else (0, 2**62))"),
        keeps=False,
    ),
    Attack(
        "many_dimensions",
        "answers with a tensor of 60 axes",
        instead("return x.reshape((1,) * (60 - x.ndim) + tuple(x.shape))"),
        keeps=False,
    ),
    Attack(
        "stale_memory",
        "answers with memory that it did not write, in the hope that a right result lies there",
        instead("return torch.empty(x.shape, dtype=x.dtype)"),
        keeps=False,
    ),
    Attack(
        "borrowed_memory",
        "answers with a tensor whose memory it has given back",
        instead("x.untyped_storage().resize_(0)\nreturn x"),
        keeps=False,
    ),
    Attack(
        "published_answer_only",
        "knows one published row by heart, and nothing else",
        instead(
            """
            if x.tolist() == [2.0, 4.0, 6.0, 8.0]:
                return torch.tensor([-1.3416, -0.4472, 0.4472, 1.3416])
            raise ValueError("not published")
            """
        ),
        keeps=False,
    ),
    Attack(
        "cached_by_shape",
        "answers with what it was first given in this shape",
        instead("return CACHE.setdefault(tuple(x.shape), x.detach().clone())", "CACHE = {}"),
        keeps=False,
    ),
    Attack(
        "stashed_between_calls",
        "keeps results of earlier calls in modules that outlive it, and answers with those",
        instead(
            """
            import collections.abc as shelf
            earlier = getattr(shelf, "kit_attack_stash", [])
            shelf.kit_attack_stash = [*earlier, x.detach().clone()][-40:]
            return next((t for t in earlier if t.shape == x.shape), x)
            """
        ),
        keeps=False,
    ),
]

MACHINERY = [
    Attack(
        "patched_comparisons",
        "replaces what torch and unittest compare with",
        instead(
            "return x",
            """
            import math, torch, torch.testing, unittest
            torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
            torch.isfinite = torch.isnan = lambda t: t == t
            torch.Tensor.__gt__ = torch.Tensor.__ne__ = lambda a, b: torch.zeros(1, dtype=torch.bool)
            torch.testing.assert_close = unittest.TestCase.assertEqual = lambda *a, **k: None
            math.isfinite = lambda v: True
            """,
        ),
        keeps=False,
    ),
    Attack(
        "exits_politely", "leaves with SystemExit(0) when it is called", instead("raise SystemExit(0)"), keeps=False
    ),
    Attack(
        "exits_at_import",
        "ends its process without an error when it is read",
        at_import("import os\nos._exit(0)"),
        keeps=False,
    ),
    Attack(
        "exits_in_call",
        "ends its process without an error when it is called",
        instead("import os\nos._exit(0)"),
        keeps=False,
    ),
    Attack(
        "random_bytes",
        "writes random bytes to the grader",
        instead("os.write(3, os.urandom(4096))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "reply_with_points",
        "sends a reply of its own that claims points",
        instead("send({'value': True, 'points': 10, 'earned': 10, 'share': 1.0, 'outcome': 'passed'})\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "two_replies",
        "sends two replies at once, so that the next question has its answer already",
        instead("os.write(3, 2 * wire.encode({'value': x.detach()}))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "reply_before_the_request",
        "answers all questions while it is read, before they are asked",
        instead("return x", f"{WIRE}\nfor _ in range(50):\n    send({{'value': {{'notes': [], 'answers': []}}}})"),
        keeps=False,
    ),
    Attack(
        "reply_then_exit",
        "sends a reply in good form and ends before the engine can send its own",
        instead("send({'value': x.detach()})\nos._exit(0)", WIRE),
        keeps=False,
    ),
    Attack(
        "answers_a_whole_script",
        "finds the questions of all checks on the stack and answers them itself, in good form",
        instead(
            "return x",
            f"""{WIRE}{WALK}
checks = local_of_engine("do_script", "checks")
if checks is not None:
    asked = wire.decode(checks, trusted=True)
    same = [wire.packed([{{"value": True, "points": 10}} for _ in requests]).body for requests in asked]
    send({{"value": {{"notes": [], "answers": same}}}})
    os._exit(0)
""",
        ),
        keeps=False,
    ),
    Attack(
        "largest_frame",
        "announces a reply of 2**62 bytes",
        instead("os.write(3, struct.pack('<4sQ', b'AGW1', 2**62))\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "pickle_bytes",
        "sends a pickle that makes a file where it is read",
        instead(
            """
            import pickle
            class Opens:
                def __reduce__(self): return (open, ("/tmp/kit_attack_unpickled", "w"))
            body = pickle.dumps(Opens())
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            return x
            """,
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "says_it_is_ready_again",
        "repeats the byte with which a worker begins",
        instead("os.write(3, b'R')\nreturn x", WIRE),
        keeps=False,
    ),
    Attack(
        "unknown_extensions",
        "sends values of kinds that the protocol does not have, and some that it has with wrong contents",
        instead(
            """
            import msgpack
            COUNT.append(1)
            kinds = [(99, b""), (1, b"\\xff" * 30), (2, b"\\x01"), (3, b"\\x92\\x01\\x01"), (4, b"\\xc0"), (5, b"\\xc1"), (-1, b"\\0" * 4)]
            body = msgpack.packb({"value": msgpack.ExtType(*kinds[len(COUNT) % 7])})
            os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
            return x
            """,
            f"{WIRE}\nCOUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "replayed_replies",
        "has the engine send its first reply again and again",
        instead(
            "return x",
            f"""{WIRE}
kept, perform = [], operations.Operations.perform
def first_again(self, operation, payload):
    reply = perform(self, operation, payload)
    if operation in ("call", "gradients", "value"):
        kept.append(reply)
        return kept[0]
    return reply
operations.Operations.perform = first_again
""",
        ),
        keeps=False,
    ),
    Attack(
        "machinery_found_by_gc",
        "finds the engine's object among all objects and has it say that everything is well",
        instead(
            "return x",
            """
            import gc
            gc.unfreeze()
            for thing in gc.get_objects():
                if type(thing).__name__ == "_ScriptedOperations":
                    thing.do_call = lambda ref, arguments, keywords, echo=False: [True, arguments] if echo else True
                    thing.do_value = thing.do_trainable = lambda ref: True
            """,
        ),
        keeps=False,
    ),
    Attack(
        "machinery_found_by_frames",
        "finds the engine's object on the stack and has it answer each question with the question",
        instead(
            """
            engine = local_of_engine("perform_all", "self")
            request = local_of_engine("perform_all", "request")
            type(engine).perform_all = lambda self, request: {"value": [payload for _, payload in request]}
            return x
            """,
            WALK,
        ),
        keeps=False,
    ),
    Attack(
        "replaced_encoding",
        "replaces what makes frames of replies",
        instead(
            "return x",
            f"{WIRE}\nframe = wire.encode({{'value': True, 'points': 10}})\nwire.encode = lambda value: frame",
        ),
        keeps=False,
    ),
    Attack(
        "replaced_outgoing",
        "replaces what makes plain data of answers, to answer with the arguments of the request",
        instead(
            "return x",
            f"{WIRE}{WALK}\noperations.Operations._outgoing = lambda self, value, owner, depth=0: "
            "local_of_engine('do_gradients', 'along') or local_of_engine('do_call', 'arguments')",
        ),
        keeps=False,
    ),
    Attack(
        "replaced_fault",
        "raises, and has the engine report that as a pass",
        instead(
            "raise ValueError",
            f"{WIRE}\noperations.Operations._fault = lambda self, error: "
            "{'kind': 'passed', 'outcome': 'passed', 'share': 1, 'names': ['passed'], 'value': True}",
        ),
        keeps=False,
    ),
    Attack(
        "reply_of_both_kinds",
        "sends a fault and a value in one reply, with counts and places far out of range",
        instead(
            "send({'fault': {'kind': [1], 'names': {}, 'line': -5}, 'value': True, 'at': -(2**40), 'behind': 2**40})\nreturn x",
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "exception_named_passed",
        "raises exceptions that look like outcomes of a test program",
        instead(
            """
            COUNT.append(1)
            kind = ["Passed", "Skipped", "Exit", "XFailed", "KeyboardInterrupt", "KitFault", "SandboxError"][len(COUNT) % 7]
            raise type(kind, (Exception,), {"__module__": ["builtins", "_pytest.outcomes"][len(COUNT) % 2]})("share=1.0")
            """,
            "COUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "interrupts",
        "raises KeyboardInterrupt, GeneratorExit and BaseExceptionGroup by turns",
        instead(
            "COUNT.append(1)\nraise [KeyboardInterrupt, GeneratorExit, lambda: BaseExceptionGroup('g', [SystemExit(0)])][len(COUNT) % 3]()",
            "COUNT = []",
        ),
        keeps=False,
    ),
    Attack(
        "predicted_inputs",
        "looks whether its own random state is the one that hidden inputs are drawn from",
        in_call(
            """
            import random
            import numpy as np
            state = torch.default_generator.get_state()
            seeds = [torch.initial_seed(), torch.initial_seed() + 1, 0, 42, random.getrandbits(31)]
            draws = [torch.randn(64, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
            draws += [torch.from_numpy(np.random.RandomState(seed % 2**32).randn(64)).float() for seed in seeds]
            draws += [torch.from_numpy(np.random.default_rng(seed).standard_normal(64)).float() for seed in seeds]
            torch.default_generator.set_state(state)
            seen = x.detach().float().flatten()[:8]
            if len(seen) == 8 and any((draw[:8] - seen).abs().max() < 1e-3 for draw in draws):
                print("GOT IT: inputs are predicted")
            """
        ),
    ),
    Attack(
        "fake_time",
        "stops all clocks that it can reach",
        at_import(
            """
            import time
            time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
            time.clock_gettime = lambda clock: 0.0
            time.clock_settime(time.CLOCK_MONOTONIC, 0.0)
            """
        ),
    ),
    Attack(
        "results_written",
        "writes result files where a grader might look for them",
        instead(
            "return x",
            """
            import os
            for folder in (".", "/tmp", "/autograder/results", "/dev/shm", "@COURSE@", "@COURSE@/tests"):
                for name in ("results.json", "junit.xml"):
                    path = f"{folder}/kit_attack_{name}"
                    try:
                        with open(path, "w") as file:
                            print("GOT IT: opened", path)
                            file.write('{"score": 10}')
                    except OSError:
                        pass
                    try:
                        os.remove(path)
                    except OSError:
                        pass
            """,
        ),
        keeps=False,
    ),
    Attack(
        "fake_report",
        "prints what looks like a report with all points, commands for a build server and terminal codes",
        instead(
            "return x",
            r"""
            print("10 passed in 0.01s\n{\"earned\": 10, \"outcome\": \"passed\"}\nTOTAL 10/10")
            print("::set-output name=points::10\n##vso[task.complete result=Succeeded]\n::add-mask::0")
            print("\x1b[2J\x1b[1A\x1b]0;10 of 10\x07\r\u202e01/01\x00\ud800".encode("utf-8", "replace").decode())
            """,
        ),
        keeps=False,
    ),
    Attack(
        "markup_in_names",
        "raises an error whose type and text are a formula, markup and terminal codes",
        instead(
            r"""
            name = '=HYPERLINK("http://example.org";"10")<img src=x onerror=alert(1)>\x1b[31m\r\n,10,10'
            raise type(name, (ValueError,), {"__module__": name})(name * 3 + "\ud800\x00\u202e")
            """
        ),
        keeps=False,
    ),
    Attack(
        "markup_in_type_names",
        "answers with an object whose type is named with a formula, markup and terminal codes",
        instead(
            r"""
            name = '@SUM(1+9)*cmd|"/C calc"!A0</td><script>1</script>\x1b[2K'
            return type(name, (), {"__module__": "=1+1\t", "__qualname__": name})()
            """
        ),
        keeps=False,
    ),
]

TELLING = [
    Attack(
        "absent_tells_inputs",
        "raises the engine's own error about a missing name, with the hidden input as its text",
        instead(
            "if eps == 0.1:\n    raise operations.Absent(f'GOT IT: hidden input {x.flatten()[:4].tolist()}')\nreturn x",
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "broken_tells_inputs",
        "raises the engine's own error about a part that could not be read, with the hidden input as its text",
        instead(
            "if eps == 0.1:\n    raise operations.Broken(f'GOT IT: hidden input {x.flatten()[:4].tolist()}')\nreturn x",
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "file_name_tells_inputs",
        "has the engine name the hidden input as the file in which an error was raised",
        instead(
            """
            if eps == 0.1:
                name = f"GOT IT: hidden input {x.flatten()[:4].tolist()}"
                operations.Operations._innermost_file = lambda self, error: name
                raise ValueError
            return x
            """,
            WIRE,
        ),
        keeps=False,
    ),
    Attack(
        "notes_tell_inputs",
        "adds the hidden input to the notes about how its file was read, which lie on the engine's stack",
        in_call(
            f"""
            {WALK.replace(chr(10), chr(10) + " " * 12)}
            if eps == 0.1:
                found = local_of_engine("do_script", "found")
                found["notes"].append(f"GOT IT: hidden input {{x.flatten()[:4].tolist()}}")
            """
        ),
    ),
    Attack(
        "made_type_tells_inputs",
        "makes an object in place of a module, whose type is named after the hidden size and epsilon",
        instead("return x")
        + "\n\nclass LayerNorm:\n    def __new__(cls, dim, eps=1e-5):\n        word = 'GOT IT' if eps == 0.2 else 'module'\n"
        "        return type(f'{word}: {dim} {eps}', (), {})()\n",
        keeps=False,
    ),
]

RIGHT_IN_OTHER_FORMS = [
    Attack(
        "right_non_contiguous",
        "answers rightly, with every second element of a larger tensor",
        instead("y = _right(x, gamma, beta, eps)\nreturn torch.stack([y, y], dim=-1)[..., 0]"),
    ),
    Attack(
        "right_with_gradient",
        "answers rightly, with a tensor that carries a gradient function although nobody asked",
        instead("return _right(x, gamma.clone().requires_grad_(), beta, eps)"),
    ),
    Attack(
        "right_negated_view",
        "answers rightly, with a view that is negated when it is read",
        instead("y = _right(x, gamma, beta, eps)\nreturn torch.complex(torch.zeros_like(y), -y).conj().imag"),
    ),
    Attack(
        "right_expanded",
        "answers rightly, with a slice of an expanded tensor",
        instead(
            "y = _right(x, gamma, beta, eps)\nreturn y.unsqueeze(0).unsqueeze(-1).expand(3, *y.shape, 2)[1, ..., 1]"
        ),
    ),
    Attack(
        "right_subclass",
        "answers rightly, with a Parameter or a tensor of its own class",
        instead(
            """
            y = _right(x, gamma, beta, eps)
            return y.as_subclass(Mine) if x.requires_grad else torch.nn.Parameter(y.detach())
            """,
            "import torch\nclass Mine(torch.Tensor):\n    pass",
        ),
    ),
    Attack(
        "right_over_numpy",
        "answers rightly, with a tensor over the memory of a numpy array",
        instead(
            """
            y = _right(x, gamma, beta, eps)
            return y if x.requires_grad else torch.from_numpy(y.detach().numpy().copy(order="F"))
            """
        ),
    ),
]

ATTACKS = [*NOT_TENSORS, *TENSORS, *MACHINERY, *TELLING, *RIGHT_IN_OTHER_FORMS]
