"""Attacks that answer with wrong tensors of an odd kind, and odd but right tensors that must keep their points."""

from __future__ import annotations

from attacks.corpus import Attack, instead

WRONG_TENSORS = [
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
        instead("y = _right(x, gamma, beta, eps)\nreturn y.to(torch.float16)"),
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

ATTACKS = [*WRONG_TENSORS, *RIGHT_IN_OTHER_FORMS]
