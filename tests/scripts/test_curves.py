"""Learning curves: what a run measured is where the picture shows it."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from okey_agents.evaluate.statistics import Interval
from okey_agents.training.runs import log_event
from tests.places import load_script

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def curves() -> ModuleType:
    return load_script("curves")


def evaluated(decisions: int, cpu: float, mean: float, margin: float, against: str = "expert", **more: Any) -> Any:
    points = {"mean": mean, "low": mean - margin, "high": mean + margin}
    return {"event": "evaluated", "decisions": decisions, "cpu": cpu, "against": against, "points": points, **more}


def write_run(folder: Path, *events: Any) -> Path:
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return folder


@pytest.fixture
def stopped_run(tmp_path: Path) -> Path:
    """A run that was stopped after its second measurement, and made that again."""
    return write_run(
        tmp_path / "stopped",
        {"event": "started", "cpu": 5.0},
        evaluated(0, 6.0, -0.5, 0.1),
        evaluated(1000, 15.0, 0.1, 0.2),
        {"event": "resumed", "decisions": 500, "cpu": 4.0},
        evaluated(1000, 8.0, 0.1, 0.2),
        {"event": "updated", "decisions": 2000, "cpu": 20.0},
        evaluated(2000, 24.0, 0.3, 0.1),
        evaluated(2000, 30.0, 0.25, 0.05, fresh=True),
        {"event": "finished", "cpu": 31.0},
    )


def test_a_run_is_read_with_the_time_before_it_was_stopped(curves: ModuleType, stopped_run: Path) -> None:
    run = curves.read_run(stopped_run)
    assert run.name == "stopped"
    assert [(point.decisions, point.cpu, point.fresh) for point in run.points] == [
        (0, 1.0, False),
        (1000, 14.0, False),  # 10 s before the stop and 4 s after it
        (2000, 30.0, False),
        (2000, 36.0, True),
    ]
    assert run.points[3].points == pytest.approx((0.25, 0.2, 0.3))


@pytest.mark.parametrize(("by", "places"), [("decisions", [0, 0.5, 1, 1]), ("cpu", [1 / 36, 14 / 36, 30 / 36, 1])])
def test_points_and_intervals_are_drawn_to_scale(
    curves: ModuleType, stopped_run: Path, by: str, places: list[float]
) -> None:
    picture = ElementTree.fromstring(curves.draw([curves.read_run(stopped_run)], by))
    circles = picture.findall(f".//{SVG}circle")
    across = [float(circle.attrib["cx"]) for circle in circles]
    widths = [(x - across[0]) / (across[-1] - across[0]) for x in across]
    assert widths == pytest.approx([(place - places[0]) / (1 - places[0]) for place in places], abs=0.002)
    down = [float(circle.attrib["cy"]) for circle in circles]
    a_point = (down[0] - down[2]) / 0.8  # how long a point is: from -0.5 up to +0.3
    assert down[0] - down[1] == pytest.approx(0.6 * a_point, abs=0.2)
    assert down[0] - down[3] == pytest.approx(0.75 * a_point, abs=0.2)
    bars = [path.attrib["d"] for path in picture.findall(f".//{SVG}g/{SVG}path[@stroke-width='5']")]
    low, high = (float(part) for part in bars[1].partition(" ")[2].split("V"))
    assert (low - down[1], down[1] - high) == pytest.approx((0.2 * a_point, 0.2 * a_point), abs=0.2)
    line = picture.find(f".//{SVG}polyline")
    assert line is not None
    assert len(line.attrib["points"].split()) == 3  # what was measured on fresh deals stands alone
    assert [circle.attrib.get("class") for circle in circles] == [None, None, None, "page"]


def test_each_opponent_has_a_picture_and_each_run_a_colour(
    curves: ModuleType, stopped_run: Path, tmp_path: Path
) -> None:
    flat = write_run(
        tmp_path / "a<b",
        {"event": "started", "cpu": 0.0},
        evaluated(0, 1.0, -2.0, 0.3, "greedy"),
        evaluated(0, 1.5, -3.0, 0.3),
        evaluated(3_000_000, 700.0, 1.0, 0.3, "greedy"),
    )
    into = tmp_path / "new" / "curves.svg"
    curves.main([str(stopped_run), str(flat), "--into", str(into), "--by", "cpu"])
    picture = ElementTree.fromstring(into.read_text(encoding="utf-8"))
    words = [element.text for element in picture.iter(f"{SVG}text")]
    assert {"stopped", "a<b", "points a round against three expert", "points a round against three greedy"} <= {*words}
    assert "CPU minutes" in words
    hues = [[len(group.findall(f"{SVG}circle")), group.attrib["class"]] for group in picture.iter(f"{SVG}g")]
    assert hues == [[0, "hue0"], [0, "hue1"], [4, "hue0"], [1, "hue1"], [0, "hue0"], [2, "hue1"]]
    curves.main([str(flat), "--into", str(into), "--against", "greedy"])
    assert "points a round against three expert" not in into.read_text(encoding="utf-8")


def test_what_a_run_logs_is_read(curves: ModuleType, tmp_path: Path) -> None:
    log_event(tmp_path, "started")
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"event": "upda\n')  # the process died within this line
    sum(range(2_000_000))  # some work
    log_event(
        tmp_path, "evaluated", against="expert", decisions=5, fresh=False, points=Interval(1.0, 0.5, 1.5)._asdict()
    )
    (point,) = curves.read_run(tmp_path).points
    assert point.points == (1.0, 0.5, 1.5)
    assert 0.005 < point.cpu < 10


def test_a_log_without_cpu_times_is_drawn_by_decisions_only(curves: ModuleType, tmp_path: Path) -> None:
    point = evaluated(10, 0.0, 0.5, 0.1)
    del point["cpu"]
    run = curves.read_run(write_run(tmp_path / "old", {"event": "started"}, point))
    assert "<circle" in curves.draw([run])
    with pytest.raises(ValueError, match="the log of old does not say how much CPU time was spent"):
        curves.draw([run], "cpu")


def test_mistakes_are_one_sentence(
    curves: ModuleType, stopped_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = write_run(tmp_path / "fresh", {"event": "started", "cpu": 1.0})
    broken = write_run(tmp_path / "broken", {"event": "evaluated"})
    for arguments, message in {
        (str(tmp_path),): "holds no run: there is no log.jsonl",
        (str(fresh),): "has no measurements",
        (str(broken),): "line 1, is no line of a run's log: KeyError('against')",
        (str(stopped_run), "--against", "cover"): "stopped was not measured against cover: expected one of expert",
        (str(stopped_run),) * 7: "7 runs are too many to be told apart: expected at most 6",
    }.items():
        with pytest.raises(SystemExit):
            curves.main([*arguments, "--into", str(tmp_path / "curves.svg")])
        assert message in capsys.readouterr().err
    assert not (tmp_path / "curves.svg").exists()
