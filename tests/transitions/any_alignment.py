"""Arbitrary words and arbitrary alignments for the property tests, sensible ones or not."""

from hypothesis import strategies as st

from reinflect.alignment.pairs import EPSILON, Alignment, StringPair

AWKWARD = "aab*_ <>\u0301\u0483𐍈😀"
"""Few letters, so that they repeat; marks that look like special symbols; combining marks; beyond the BMP."""

letters = st.sampled_from(AWKWARD) | st.characters()
words = st.text(letters, max_size=12)


def pairs_of_words() -> st.SearchStrategy[StringPair]:
    """Unlike words, the same word twice, a word and one made from it, words of one letter over and over."""
    made = st.tuples(words, words, words, words).map(lambda w: (w[0] + w[1] + w[2], w[3] + w[1] + w[3]))
    repeated = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda k: ("a" * k[0], "a" * k[1]))
    return st.tuples(words, words) | words.map(lambda word: (word, word)) | made | repeated


def alignments() -> st.SearchStrategy[Alignment]:
    """Any alignment of any two words."""
    substitution = st.tuples(letters, letters)
    copy = letters.map(lambda letter: (letter, letter))
    deletion = letters.map(lambda letter: (letter, EPSILON))
    insertion = letters.map(lambda letter: (EPSILON, letter))
    return st.lists(copy | deletion | insertion | substitution, max_size=15).map(tuple)
