"""Shows a ladder: a page in Markdown, a picture as SVG, and tables on the terminal."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from okey_agents.evaluate.ladder import Ladder, Rung
from okey_agents.evaluate.ratings import RESAMPLES
from okey_agents.evaluate.statistics import Interval
from okey_agents.evaluate.svg import WIDTH, document, signed, text, ticks
from okey_env.files import write_whole

PAGE, PICTURE, NUMBERS = "ladder.md", "ladder.svg", "ladder.json"

_LEFT, _RIGHT, _ROW, _TOP = 140, 90, 34, 44
_MOST_TICKS = 8
_SPAN = 800  # a bot whose interval reaches further below the best one is shown as an arrow at the edge
_BAR = 'stroke="currentColor" stroke-width="6" stroke-linecap="round" opacity=".35"'

_ABOUT = """\
Each bot played one against three of each other bot, and each four of the bots played one another. All played the same
deals, every deal in all four seatings, with a draw queue for each seat (`docs/evaluation.md` of okey-env says why).

**Points a round** are what the challenger wins, less what it loses, against three of the opponent; an ordinary finish
is +6, and one of four equal bots has 0. **The rating** is fitted to who won the rounds of all lineups: 400 points are a
factor of ten in the odds against one opponent. A bot rated 100 above three equal ones wins 37 % of the rounds that are
won; one of four equal bots wins 25 %. For a bot that hardly ever wins, the rating has no lower bound. **At mixed
tables** the three others are three different bots of the ladder.
"""


def write_page(ladder: Ladder, folder: Path) -> None:
    """Write page, picture and numbers into a folder."""
    write_whole(folder / PAGE, markdown(ladder))
    write_whole(folder / PICTURE, picture(ladder))
    ladder.write_json(folder / NUMBERS)


def markdown(ladder: Ladder) -> str:
    """The whole page."""
    names = [rung.bot.name for rung in ladder.rungs]
    made = ladder.made
    fewer = "".join(f", {deals:,} with {name}" for name, deals in ladder.fewer.items())
    return "\n".join(
        [
            "# The ladder",
            "",
            f"![ratings with intervals]({PICTURE})",
            "",
            "| bot | rating | points a round, mixed tables | ms a move |",
            "|---|---|---|---|",
            *(
                f"| `{rung.bot.name}` | {_rating(rung, ladder)} | {_plus_minus(rung.mixed_points)} "
                f"| {rung.bot.ms_a_move:.3f} |"
                for rung in ladder.rungs
            ),
            "",
            "Points a round of the challenger (left) against three of the opponent (top):",
            "",
            "| challenger | " + " | ".join(f"`{name}`" for name in names) + " |",
            "|---|" + "---|" * len(names),
            *(
                f"| `{challenger}` | "
                + " | ".join(_plus_minus(ladder.points.get((challenger, name))) for name in names)
                + " |"
                for challenger in names
            ),
            "",
            _ABOUT,
            f"Rules {ladder.rules}; {ladder.rounds:,} rounds, {ladder.deals:,} deals for each lineup{fewer},",
            f"seed {ladder.seed}. Intervals are 95 %, for points Student's t clustered by deal, for ratings",
            f"{RESAMPLES:,} resamples of the deals; `{ladder.reference}` is 0 by definition.",
            f"{str(made['date'])[:10]}, commit {_short(made['commit'])}; made by",
            "",
            f"    {made['command']}",
            "",
        ]
    )


def picture(ladder: Ladder) -> str:
    """The ratings with their 95 % intervals, as SVG."""
    high = max(rung.rating.high for rung in ladder.rungs)
    low = min(rung.rating.low for rung in ladder.rungs if rung.rating.low > high - _SPAN)
    marks = ticks(low, high, _MOST_TICKS)
    height = _TOP + _ROW * len(ladder.rungs) + 16

    def x(rating: float) -> float:
        return _LEFT + (rating - marks[0]) / (marks[-1] - marks[0]) * (WIDTH - _LEFT - _RIGHT)

    elements = []
    for mark in marks:
        elements.append(f'<path class="grid" d="M{x(mark):.1f} {_TOP - 12}V{height - 12}"/>')
        elements.append(text(x(mark), _TOP - 20, signed(mark), look="quiet", anchor="middle"))
    elements.append('<g class="hue0">')
    for row, rung in enumerate(ladder.rungs):
        y = _TOP + _ROW * (row + 0.5)
        rating = rung.rating
        elements.append(text(_LEFT - 12, y + 5, rung.bot.name, anchor="end"))
        if rating.low < marks[0]:  # beyond the left edge
            elements.append(f'<path d="M{_LEFT + 8} {y - 5}L{_LEFT} {y}L{_LEFT + 8} {y + 5}" fill="currentColor"/>')
        else:
            elements.append(f'<path d="M{x(rating.low):.1f} {y}H{x(rating.high):.1f}" {_BAR}/>')
            elements.append(f'<circle cx="{x(rating.mean):.1f}" cy="{y}" r="5" fill="currentColor"/>')
        elements.append(text(WIDTH - _RIGHT + 14, y + 5, signed(rating.mean)))
    return document(height, "Ratings of the bots with 95 % intervals", [*elements, "</g>"])


def print_ladder(ladder: Ladder, console: Console) -> None:
    """Print ratings, points one against three, and what failed."""
    names = [rung.bot.name for rung in ladder.rungs]
    ratings = Table("bot", "rating", "points, mixed tables", "ms a move")
    for rung in ladder.rungs:
        pace = f"{rung.bot.ms_a_move:.3f}"
        ratings.add_row(rung.bot.name, _rating(rung, ladder), _plus_minus(rung.mixed_points), pace)
    console.print(ratings)
    matrix = Table("points a round", *(f"v 3 {name}" for name in names))
    for name in names:
        matrix.add_row(name, *(_plus_minus(ladder.points.get((name, opponent))) for opponent in names))
    console.print(matrix)
    for rung in ladder.rungs:
        if rung.bot.failures:
            console.print(f"{rung.bot.name} failed: {rung.bot.failures}", style="red")
    console.print(
        f"{ladder.rounds:,} rounds, rules {ladder.rules}, seed {ladder.seed}, {ladder.seconds:.1f} s", style="dim"
    )


def _rating(rung: Rung, ladder: Ladder) -> str:
    rating = rung.rating
    if rung.bot.name == ladder.reference:
        return "0"
    return f"{rating.mean:+.0f} ({rating.low:+.0f} … {rating.high:+.0f})"


def _plus_minus(points: Interval | None) -> str:
    return f"{points.mean:+.3f} ± {points.margin:.3f}" if points is not None else ""


def _short(commit: str | None) -> str:
    """The first digits of a commit, and whether files differed from it."""
    if commit is None:
        return "unknown"
    return commit[:8] + (" with changes" if commit.endswith("+") else "")
