"""What a search is asked for: terms of which one must hit, a second group of which one must, and terms that all must; pure.

A term is its words, literal and of any script, of which every one must lie in the same text; `"a phrase"` is one word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memkit import match
from memkit.errors import BadArgument

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: `terms` are OR, `any_of` is a second OR group (none: it asks for nothing), `all_of` must all hit."""

    terms: tuple[Words, ...]
    any_of: tuple[Words, ...] = ()
    all_of: tuple[Words, ...] = ()

    @property
    def words(self) -> Words:
        """Return every word, each once, as it is to be marked in a hit."""
        return tuple(dict.fromkeys(word for term in (*self.terms, *self.any_of, *self.all_of) for word in term))

    @property
    def alone(self) -> bool:
        """Return whether this is a single term and nothing else."""
        return len(self.terms) == 1 and not self.any_of and not self.all_of

    def ways(self) -> list[Words]:
        """Return for each term the words that must all be there when it is the one that hits."""
        every = tuple(word for term in self.all_of for word in term)
        return [tuple(dict.fromkeys((*term, *every))) for term in self.terms]

    def narrows(self, folded: str) -> bool:
        """Return whether a folded text holds one of the second group, and all that must be there."""
        return (not self.any_of or _one(self.any_of, folded)) and all(_whole(term, folded) for term in self.all_of)

    def test(self) -> Callable[[str], bool]:
        """Return a function that says of a folded text whether it is a hit; the words are folded once."""
        first, second, every = (
            [[match.fold(word) for word in term] for term in group] for group in (self.terms, self.any_of, self.all_of)
        )

        def holds(folded: str) -> bool:
            return (
                any(all(word in folded for word in term) for term in first)
                and (not second or any(all(word in folded for word in term) for term in second))
                and all(word in folded for term in every for word in term)
            )

        return holds

    def hits(self, folded: str) -> list[str]:
        """Return the terms of the first group that a folded text holds."""
        return [" ".join(term) for term in self.terms if _whole(term, folded)]


def wanted(
    terms: Iterable[str], any_of: str | Iterable[str] = (), all_of: str | Iterable[str] = (), *, name: str = "terms"
) -> Wanted:
    """Return what terms, given as people write them, ask for; `name` is what an error calls the first group.

    Raises: BadArgument if there is none, or one without a word.
    """
    held = tuple(terms)
    if not held:
        raise BadArgument(f"{name}: none given; expected at least one word to look for")
    return Wanted(*(_split(group, name) for group, name in ((held, name), (any_of, "any_of"), (all_of, "all_of"))))


def _split(group: str | Iterable[str], name: str) -> tuple[Words, ...]:
    if not isinstance(group, Iterable):
        raise BadArgument(f"{name}: {type(group).__name__}; expected words to look for, or a list of such")
    return tuple(match.split_query(term, name=name) for term in ([group] if isinstance(group, str) else group))


def _whole(term: Words, folded: str) -> bool:
    return all(match.fold(word) in folded for word in term)


def _one(terms: Iterable[Words], folded: str) -> bool:
    return any(_whole(term, folded) for term in terms)
