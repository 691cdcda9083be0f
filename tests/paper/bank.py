"""A bank of made-up sentences with their trees, for what parses."""

from random import Random

NOUNS, VERBS, PLACES = ("cat", "dog", "bird"), ("sees", "hears"), ("house", "tree")


def bracketed(draw: Random) -> str:
    """Draw a sentence, with the functions, traces and punctuation that treebanks have."""
    subject = f"(NP-SBJ (DT the) (NN {draw.choice(NOUNS)}))"
    noun = f"(NP (DT a) (NN {draw.choice(NOUNS)}))"
    if draw.random() < 0.5:
        place = f"(PP-LOC (IN near) (NP (DT the) (NN {draw.choice(PLACES)})))"
        noun = f"(NP {noun} {place})"
    trace = " (NP (-NONE- *T*-1))" if draw.random() < 0.3 else ""
    return f"( (S {subject} (VP (VBZ {draw.choice(VERBS)}) {noun}{trace}) (. .)) )"


def write_bank(folder, num_files: int = 10, trees_each: int = 8) -> None:
    draw = Random(8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README").write_text("Not a tree.\n")
    for number in range(num_files):
        lines = [bracketed(draw) for _ in range(trees_each)]
        (folder / f"made_{number:02}.mrg").write_text("\n".join(lines) + "\n")
