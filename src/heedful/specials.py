"""The four reserved piece ids, the same in every vocabulary we build."""

PAD, UNK, BOS, EOS = range(4)
