"""Statements: what a scenario says of its inputs, and for whom: for all, or for one role, process or pool."""

import re
from collections.abc import Callable
from itertools import chain

from . import values
from .layers import block
from .model import Column, Model
from .quantity import Declaration, Quantity
from .reader import Mapping, Node, Place, Sequence, Text, quoted
from .schedule import Schedule

#: The blocks of inputs that belong to somebody.
OWNERS = ("roles", "processes", "pools")
#: What to do with an input stated for an owner who has none of his own, by the level it belongs to.
LEVELS = {
    "scenario": "the whole scenario has one. State it under inputs",
    "card": "each pool of cards has one. State it under inputs, or for a pool",
    "process": "each process has one. State it under inputs, or for a process",
    "role": "other roles read it. State it for one of them",
}
#: A pool's name becomes part of names in Excel.
POOL = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Statements:
    """Every stated input with its place, by owner: "" for the scenario, else the name of a role, process or pool.

    `wrong(place, message)` is told of unknown names and owners, and of values that their quantity cannot take.
    """

    def __init__(self, tree: Mapping, chapters: Declaration, timeline: Schedule | None, wrong: Callable[[Place, str], None]) -> None:
        self.tree, self.chapters, self.wrong = tree, chapters, wrong
        self.found: dict[tuple[str, str], tuple[float | int, Place]] = {}
        self.groups: dict[str, dict[str, Quantity]] = {}
        for row in chapters.rows.values():
            if row.group:
                group, _, member = row.group.partition(".")
                self.groups.setdefault(group, {})[member] = row
        self._read_block(block(tree, "inputs"))
        for kind in OWNERS:
            self._read_owners(kind, timeline)

    def at(self, quantity: Quantity, column: Column) -> tuple[float | int, Place] | None:
        """The value stated for a quantity at a column, and where."""
        owner = self._owner(quantity.name, column)
        return None if owner is None else self.found[owner, quantity.name]

    def _owner(self, name: str, column: Column) -> str | None:
        """Whose statement an input takes at a column: the most particular one."""
        return next((owner for owner in _owners(column) if (owner, name) in self.found), None)

    def pool(self, role: str) -> str:
        """The pool of cards that a role lives on."""
        node = block(block(self.tree, "roles"), role).items.get("pool")
        return node.text if isinstance(node, Text) else "main"

    # --- reading ---

    def _read_owners(self, kind: str, timeline: Schedule | None) -> None:
        owners: dict[str, list[str]] = {}
        if timeline is not None:
            pools = ["main", *map(self.pool, timeline.roles)]
            owners = {"roles": list(timeline.roles), "processes": list(timeline.roles.values()), "pools": pools}
        statements = block(self.tree, kind)
        for owner, node in statements.items.items():
            place = statements.keys[owner]
            # The command line does not say of which kind an owner is.
            known = dict.fromkeys(owners.get(kind, ()) if place.line else chain(*owners.values()))
            if timeline is not None and owner not in known:
                whose = f"{kind if place.line else ', '.join(OWNERS)} ({', '.join(known)})"
                self.wrong(place, f"the schedule {timeline.name} has no {quoted(owner)} among its {whose}.{values.nearest(owner, known)}")
            elif isinstance(node, Mapping):
                self._read_block(node, owner, kind)

    def _read_block(self, inputs: Mapping, owner: str = "", kind: str = "") -> None:
        for name, node in inputs.items.items():
            place = inputs.keys[name]
            if name == "pool" and kind == "roles":
                if not isinstance(node, Text) or not POOL.fullmatch(node.text):
                    self.wrong(place, "pool needs one word of small letters, digits and _, such as rollout_cards")
            elif name in self.groups:
                self._read_group(owner, name, node)
            elif name not in self.chapters.rows:
                known = [*(row.name for row in self.chapters.rows.values() if row.is_given), *self.groups]
                self.wrong(place, f"nothing is called {quoted(name)}.{values.nearest(name, known)}")
            elif not (row := self.chapters.rows[name]).is_given:
                self.wrong(place, f"{name} is worked out by a formula ({row.label}) and cannot be set")
            elif not isinstance(node, Text):
                self.wrong(place, f"{name} needs one value")
            else:
                self._state(owner, row, node.text, place)

    def _state(self, owner: str, row: Quantity, text: str, place: Place) -> None:
        try:
            self.found[owner, row.name] = values.parse(row, text), place
        except values.ValueMistake as error:
            self.wrong(place, str(error))

    def _read_group(self, owner: str, name: str, node: Node) -> None:
        """A list of members ([q_proj, v_proj]) or `all-linear`: each member's own input is set to 1 or 0."""
        members = self.groups[name]
        known = f"all-linear, {', '.join(members)}"
        parts = node.items if isinstance(node, Sequence) else (node,)
        chosen = [part.text for part in parts if isinstance(part, Text)]
        if not parts:
            self.wrong(node.place, f"{name} is empty: list some of {known}")
        for part in parts:
            if not isinstance(part, Text) or (part.text not in members and part.text != "all-linear"):
                word = part.text if isinstance(part, Text) else "a list in a list"
                self.wrong(part.place, f"{name}: {quoted(word)} is none of {known}.{values.nearest(word, members)}")
        for member, row in members.items():
            self.found[owner, row.name] = int(member in chosen or "all-linear" in chosen), node.place

    # --- what has no effect ---

    def refuse_unread(self, model: Model) -> None:
        """A setting without effect misleads: say so."""
        takers: dict[tuple[str, str], set[str]] = {}  # (owner, input) -> whose statements the owner's cells take
        for key in model.cells:
            winner = self._owner(key.row, key.column)
            if winner is not None:
                for owner in _owners(key.column):
                    takers.setdefault((owner, key.row), set()).add(winner)
        taken: dict[tuple[str, str], set[str]] = {}  # the same, a group being one input
        for owner, name in self.found:
            group = self.chapters[name].group.partition(".")[0]
            taken.setdefault((owner, group or name), set()).update(takers.get((owner, name), ()))
        for (owner, name), winners in taken.items():
            members = [row.name for row in self.groups.get(name, {}).values()] or [name]
            member = next(one for one in members if (owner, one) in self.found)  # one may be stated without the others
            place = self.found[owner, member][1]
            if not winners:
                whole = owner and any(key.row == member for key in model.cells)
                advice = LEVELS[self.chapters[member].per] if whole else "nothing in this schedule reads it. Remove it"
                self.wrong(place, f"{name} has no effect{f' for {owner}' if owner else ''}: {advice}")
            elif owner not in winners:
                others = [self.found[winner, one][1] for winner in winners for one in members if (winner, one) in self.found]
                if not self._laid_over(place, others):
                    stated = ", ".join(f"{winner}.{name}" for winner in sorted(winners))
                    self.wrong(place, f"{name} has no effect: more particular statements go first. Set {stated}")

    def _laid_over(self, place: Place, others: list[Place]) -> bool:
        """Whether others set a statement aside by being laid over it: that is what bases and the command line are for."""

        def layer(place: Place) -> int:
            return 2 if not place.line else 1 if place.file == self.tree.place.file else 0

        return layer(place) == 0 or any(layer(other) > layer(place) for other in others)


def _owners(column: Column) -> list[str]:
    """Who may state an input for a column, the most particular first; "" is the scenario."""
    return [*filter(None, (column.role, column.process, column.pool)), ""]
