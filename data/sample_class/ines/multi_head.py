import torch


def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads != 0:
        raise ValueError(f"{C} features, {num_heads} heads")
    return x.reshape(B, T, num_heads, C // num_heads)


def merge_heads(x):
    return x.reshape(x.shape[0], x.shape[1], -1)
