"""Attacks that want to harm whoever reads about them: texts made to break reports, logs, terminals, build servers."""

from __future__ import annotations

from attacks.corpus import Attack, at_import, instead

_POISON = r"""
poison = '\ud800\udfff\x00\x1b[2J\x1b]0;kit_attack\x07\r\u202e\u2028\x85</script><img src=x onerror=alert(1)>=HYPERLINK("x")'
poison += '\n::set-env name=PATH::/tmp\n::add-mask::1\n##vso[task.complete result=Failed]\n::error::1\n]]>&#0;{{7*7}}%s%n'
"""

ATTACKS = [
    Attack(
        "poisoned_exception",
        "raises an exception whose name and text are made to break reports and logs",
        instead(
            """
            kind = type('K\\u0131t' + '<b>' * 9, (ValueError,), {'__str__': lambda self: poison, '__repr__': lambda self: poison})
            raise kind(poison)
            """,
            before=_POISON,
        ),
        keeps=False,
    ),
    Attack(
        "poisoned_exception_at_import",
        "raises such an exception when it is imported, from a line with such a text",
        f"{_POISON}\nraise type(poison.replace(chr(0), ''), (Exception,), {{}})(poison)  # \x1b[31m ::set-env name=A::b </script>\n"
        "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n",
        keeps=False,
    ),
    Attack(
        "poisoned_result",
        "returns dictionaries and texts that are made to break whoever shows them",
        instead("return {poison: [poison, {poison: poison}], '': float('nan'), '__class__': poison}", before=_POISON),
        keeps=False,
    ),
    Attack(
        "poisoned_output",
        "prints bytes that are no text, terminal commands and orders to build servers",
        at_import(
            _POISON
            + r"""
import os, sys
for number in (1, 2):
    os.write(number, poison.encode('utf-8', 'surrogatepass') + bytes(range(256)))
sys.stdout.buffer.write(b'\xff\xfe\x00::stop-commands::kit_attack\n')
print(poison.encode('utf-8', 'backslashreplace').decode(), file=sys.stderr)
print(poison)
"""
        ),
    ),
    Attack(
        "poisoned_names",
        "gives its module and functions names, texts and signatures that are made to break whoever shows them",
        at_import(_POISON + "\n__doc__ = __name__ = __file__ = poison\nglobals()[poison] = poison\n__all__ = [poison]")
        + "\nlayer_norm.__name__ = layer_norm.__qualname__ = layer_norm.__doc__ = layer_norm.__module__ = poison\n"
        "layer_norm.__annotations__ = {poison: poison}\n",
    ),
]
