"""Attacks that change or use the engine around them, in their own process.

Some have it answer in their place. Others have the grader itself tell what a hidden check asked: they say GOT IT in a
text that the receipt carries.
"""

from __future__ import annotations

from attacks.corpus import WALK, WIRE, Attack, in_call, instead

ANSWERING = [
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

ATTACKS = [*ANSWERING, *TELLING]
