"""Arbitrary words and arbitrary alignments for the property tests."""

from hypothesis import strategies as st

from reinflect.align.pairs import EPSILON, Alignment, StringPair

AWKWARD = "aab*_ <>\u0301\u0483𐍈😀"
"""Few letters, so that they repeat; signs that look like special symbols; combining marks; letters beyond the BMP."""

letters = st.sampled_from(AWKWARD) | st.characters()
words = st.text(letters, max_size=12)


def pairs_of_words() -> st.SearchStrategy[StringPair]:
    """Unrelated words, the same word twice, a word and one derived from it, words of one repeated letter."""
    made = st.tuples(words, words, words, words).map(lambda w: (w[0] + w[1] + w[2], w[3] + w[1] + w[3]))
    repeated = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda k: ("a" * k[0], "a" * k[1]))
    return st.tuples(words, words) | words.map(lambda word: (word, word)) | made | repeated


def sides(alignment: Alignment) -> StringPair:
    """The lemma and the form of an alignment."""
    return "".join(x for x, _ in alignment), "".join(y for _, y in alignment)


def alignments() -> st.SearchStrategy[Alignment]:
    """Any alignment of any two words."""
    substitution = st.tuples(letters, letters)
    copy = letters.map(lambda letter: (letter, letter))
    deletion = letters.map(lambda letter: (letter, EPSILON))
    insertion = letters.map(lambda letter: (EPSILON, letter))
    return st.lists(copy | deletion | insertion | substitution, max_size=15).map(tuple)
