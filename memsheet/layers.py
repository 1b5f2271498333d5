"""Layers: a scenario's file lies over what it extends, and the command line over both."""

from pathlib import Path

from . import reader, values
from .house import folder
from .reader import InputError, Mapping, Mistake, Node, Place, Sequence, Text, quoted

DEEPEST_EXTENDS = 8


def names() -> list[str]:
    """The built-in scenarios (those in folders below are for `extends`)."""
    return sorted(path.stem for path in folder("scenarios").glob("*.yaml"))


def read(name: str, settings: tuple[tuple[str, str], ...]) -> Mapping:
    """The merged tree of a file or built-in scenario, with `settings` (key, value) laid over it. Raises InputError."""
    return _overlay(_tree(_find(name, None)), settings)


def _find(name: str, near: Path | None) -> Path:
    """A scenario's file: a path (beside the file that extends it), or the name of a built-in one."""
    candidates = [Path(name)] if near is None else [near.parent / name, near.parent / f"{name}.yaml"]
    if near is None and not name.endswith((".yaml", ".yml")):
        candidates = []
    candidates.append(folder("scenarios") / f"{name}.yaml")
    for path in candidates:
        if _is_file(path):
            return path
    known = [*names(), *(f"base/{path.stem}" for path in sorted((folder("scenarios") / "base").glob("*.yaml")))]
    hint = f"{values.nearest(name, known)} Built in: {', '.join(known)}"
    raise InputError([Mistake(Place(name, 0), f"no such scenario file or built-in scenario.{hint}")])


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, a folder that may not be entered
        return False


def _tree(path: Path, depth: int = 0) -> Mapping:
    """A file laid over what it extends."""
    tree = reader.read(path, path.name if path.is_relative_to(folder("scenarios")) else str(path))
    base = tree.items.pop("extends", None)
    if base is None:
        return tree
    place = tree.keys.pop("extends")
    if depth == DEEPEST_EXTENDS:
        raise InputError([Mistake(place, f"extends runs through more than {DEEPEST_EXTENDS} files: is there a circle?")])
    if not isinstance(base, Text):
        raise InputError([Mistake(place, "extends needs the name of one scenario")])
    try:
        found = _find(base.text, path)
    except InputError as error:
        raise InputError([Mistake(place, f"extends {quoted(base.text)}: {error.mistakes[0].message}")]) from None
    return _tree(found, depth + 1).overlaid(tree)


def _overlay(tree: Mapping, settings: tuple[tuple[str, str], ...]) -> Mapping:
    file = tree.place
    for key, text in settings:
        place = Place(f"--set {key}", 0)
        owner, _, name = key.rpartition(".")
        value: Node = Text(text, place)
        if "," in text:
            value = Sequence(tuple(Text(part.strip(), place) for part in text.split(",")), place)
        piece = Mapping({name: value}, place, {name: place})
        if owner:
            kind = next((kind for kind in ("processes", "pools") if owner in block(tree, kind).items), "roles")
            piece = Mapping({owner: piece}, place, {owner: place})
        else:
            kind = "inputs"
        tree = tree.overlaid(Mapping({kind: piece}, place, {kind: place}))
    return Mapping(tree.items, file, tree.keys)


def block(tree: Mapping, key: str) -> Mapping:
    """One block of `name: …` lines; empty where the tree has none."""
    node = tree.items.get(key)
    return node if isinstance(node, Mapping) else Mapping({}, tree.place)
