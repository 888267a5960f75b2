"""Rig for `lm_head`: what the parts of a one-block model make of some tokens, one after the other."""

import torch


def stages(model, token_ids):
    """token_ids [B,T] -> {stage: tensor}, each part fed with what the parts before it gave."""
    positions = torch.arange(token_ids.shape[1])
    block = model.blocks[0]
    stream = model.token_embedding(token_ids) + model.position_embedding(positions)
    found = {"residual_0": stream}
    found["ln1"] = block.ln1(stream)
    found["attention_update"] = block.attention(found["ln1"])
    found["residual_after_attention"] = stream + found["attention_update"]
    found["ln2"] = block.ln2(found["residual_after_attention"])
    found["ffn_update"] = block.ffn(found["ln2"])
    found["residual_after_ffn"] = block(stream)
    found["final_hidden"] = model.final_norm(found["residual_after_ffn"])
    found["logits"] = model(token_ids)[0]
    return found
