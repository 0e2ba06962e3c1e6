"""A table as text. It shows everything, as a spectator behind all four racks would see it."""

import gymnasium

from okey_env.engine.state import EVENT_SHOW, EVENT_TAKE, EVENTS
from okey_env.round import Round
from okey_env.tiles import NUM_SEATS, kind_text, rack_text

RENDER_MODES = ("human", "ansi")
"""`ansi`: the text is returned; `human`: it is printed."""
_LAST_EVENTS = 6


def render(round: Round, mode: str | None) -> str | None:
    """The table in a render mode of Gymnasium and PettingZoo; a warning if none was chosen."""
    if mode is None:
        gymnasium.logger.warn("render() was called, but no render_mode was given when the environment was made")
        return None
    text = table_text(round)
    if mode == "ansi":
        return text
    print(text, flush=True)
    return None


def table_text(round: Round) -> str:
    """The table as lines of text: indicator, stock, racks, heaps, the last events, how it ended.

    >>> print(table_text(Round(seed=1)).splitlines()[0].split(",")[0])
    Okey (gamelake)
    """
    fields = {name: field[0] for name, field in round.fields.items()}
    okey = round.okey
    head = f"Okey ({round.rules.name}), indicator {kind_text(round.indicator, okey)}, stock {round.stock_left}"
    lines = [head, ""]
    for seat in range(NUM_SEATS):
        mark = ">" if seat == round.turn and not round.over else " "
        points = round.won[seat] - round.lost[seat]
        lines.append(f"{mark} seat {seat}  {points:+3d}   {rack_text(round.racks[seat], okey)}")
        if round.heaps[seat].any():
            lines.append(f"      thrown   {rack_text(round.heaps[seat], okey)}")
    if round.offer is not None:
        lines += ["", f"on offer to seat {round.turn}: {kind_text(round.offer, okey)}"]
    first = max(0, int(fields["num_events"]) - _LAST_EVENTS)
    events = [event_text(int(entry), okey) for entry in fields["log"][first : fields["num_events"]]]
    if events:
        lines += ["", "last: " + "; ".join(events)]
    if round.over:
        lines += ["", _ending_text(round)]
    return "\n".join(lines)


def event_text(entry: int, okey: int) -> str:
    """One event of a game's log, like `seat 2 throws R5`."""
    event, seat, kind = entry >> 8, (entry >> 6) & 3, entry & 63
    tile = kind_text(kind, okey)
    verb = {EVENT_TAKE: "takes", EVENT_SHOW: "shows"}.get(event, EVENTS[event] + ("es" if event == 4 else "s"))
    return f"seat {seat} {verb} {tile}"


def _ending_text(round: Round) -> str:
    fields = {name: field[0] for name, field in round.fields.items()}
    if round.winner is None:
        return "void: " + ("the stock is empty" if round.ending == "void" else f"{fields['throws']} throws")
    how = "seven pairs" if fields["by_pairs"] else "melds"
    tile = kind_text(int(fields["finish_kind"]), round.okey)
    return f"seat {round.winner} finishes with {how}, laying {tile}" + (" (as the okey)" if fields["by_okey"] else "")
