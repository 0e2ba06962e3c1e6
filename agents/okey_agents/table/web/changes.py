"""Changes from one view of a table to the next, so that a seat is sent its whole view only once.

A view is plain data: mappings with fixed keys, lists, and values. A change is a message with up to three parts. Its
paths name keys and indices from the top of the view, with dots between them. They are applied in this order:

| part | what it holds |
|---|---|
| `cut` | by path of a list: the length to which it is shortened |
| `set` | by path: the new value |
| `add` | by path of a list: the elements that come to its end |

The page applies changes in `static/changes.js`. A change is computed from two views of one seat and from nothing else,
so it cannot tell more than these views do.
"""

import copy
from collections.abc import Mapping
from typing import Any

_SCALARS = (str, int, float, bool, type(None))


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What turns one view into another: `cut`, `set` and `add`, without empty parts.

    >>> changes({"turn": 1, "events": [[0, "draw"]]}, {"turn": 1, "events": [[0, "draw"], [0, "throw"]]})
    {'add': {'events': [[0, 'throw']]}}
    >>> changes({"seats": [{"score": 20}]}, {"seats": [{"score": 18}]})
    {'set': {'seats.0.score': 18}}
    """
    found: dict[str, dict[str, Any]] = {"cut": {}, "set": {}, "add": {}}
    _compare("", old, new, found)
    return {part: paths for part, paths in found.items() if paths}


def _compare(path: str, old: Any, new: Any, found: dict[str, dict[str, Any]]) -> None:
    if type(old) is type(new) and old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key, value in new.items():
            _compare(f"{path}.{key}" if path else key, old[key], value, found)
    elif isinstance(old, list) and isinstance(new, list) and not _all_new(old, new):
        if len(new) < len(old):
            found["cut"][path] = len(new)
        for i, (before, after) in enumerate(zip(old, new, strict=False)):
            _compare(f"{path}.{i}", before, after, found)
        if len(new) > len(old):
            found["add"][path] = new[len(old) :]
    else:
        found["set"][path] = new


def _all_new(old: list[Any], new: list[Any]) -> bool:
    """Whether most of a list's values differ, as after a sort of the rack: then it is shorter to send the list."""
    if not all(isinstance(value, _SCALARS) for value in new):
        return False
    differ = sum(before != after for before, after in zip(old, new, strict=False))
    return bool(4 * differ > len(new))


def changed(view: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The view after a change, for clients in Python, such as tests; the old one stays as it is.

    >>> changed({"seats": [{"score": 20}]}, {"type": "change", "version": 1, "set": {"seats.0.score": 18}})
    {'seats': [{'score': 18}], 'version': 1}
    """
    new = {**copy.deepcopy(dict(view)), "version": change["version"]}
    for path, length in change.get("cut", {}).items():
        del _found(new, path.split("."))[length:]
    for path, value in change.get("set", {}).items():
        *keys, last = path.split(".")
        holder = _found(new, keys)
        holder[int(last) if isinstance(holder, list) else last] = value
    for path, values in change.get("add", {}).items():
        _found(new, path.split(".")).extend(values)
    return new


def _found(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
