"""The lab trains the models of Day 3 with your own modules, measures them and draws. It needs two packages more, and
the folder of week08 beside this one (or `--modules DIR`): the Transformer and its training come from there.

```
python -m pip install rich matplotlib
python -m lab train
```

`python -m lab train` trains the Mini GPT, which takes minutes on two cores. Ctrl-C stops it, the same command goes on.
`compare` puts the models of Day 3 into one table, `experiment NAME` runs one of its six experiments, `generate` writes
names, and `speed` measures what makes a model fast. `--help` lists their options; results go to `lab-out/`. The same
from Python:

```
from lab.train import train
from lab.experiment import experiment

trained = train()
dropout = experiment("dropout")  # dropout.table, dropout.figure
```

What is nobody's exercise stands ready in `lab/`: checkpoints, a fast model, tables and pictures.
"""
