"""Serving one of our bots to others: the program's side of the protocol."""

import json
import os
import sys
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from okey_agents.protocol.messages import VERSION, observation_of, read_message
from okey_env.bot_lookup import said
from okey_env.bots import Bot, BotSpec, make_bot

BATCH = 256
"""The most positions that a served bot takes in one message, if it plays batches."""


def serve(spec: BotSpec, messages: IO[bytes], replies: IO[bytes]) -> None:
    """Answer messages until `end` or the end of the input.

    Args:
        spec: the bot, as `okey_env.make_bot` takes it.
        messages: where they come from.
        replies: where the replies go.

    Raises:
        ValueError: the bot cannot be made.
    """
    bot = make_bot(spec)
    for line in messages:
        reply: dict[str, Any] | None
        message: Mapping[str, Any] = {}
        try:
            message = read_message(line)
            if message["type"] == "end":
                return
            reply = _reply(bot, message)
        except Exception as error:  # whatever the bot raises is the answer to this message
            reply = {"type": "error", "message": str(error) if type(error) is ValueError else said(error)}
            if "id" in message:
                reply["id"] = message["id"]
        if reply is not None:
            replies.write(json.dumps(reply).encode("ascii") + b"\n")
            replies.flush()


def serve_stdin(spec: BotSpec) -> None:
    """Serve a bot on stdin and stdout. What the bot prints goes to stderr, so that it does not disturb the replies."""
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        serve(spec, sys.stdin.buffer, replies)


def _reply(bot: Bot, message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The reply to a message; None: it gets none. A message of an unknown type is passed over."""
    match message["type"]:
        case "hello":
            version = message.get("version")
            if version != VERSION:
                raise ValueError(f"version {version!r:.80} of the protocol is not spoken here: expected {VERSION}")
            batch = BATCH if getattr(bot, "act_batch", None) is not None else 0
            return {"type": "ready", "version": VERSION, "name": bot.name, "batch": batch}
        case "reset":
            bot.reset(int(message["seed"]))
        case "act":
            seen = [observation_of(position) for position in message["observations"]]
            act_batch = getattr(bot, "act_batch", None)
            if act_batch is not None:
                actions = np.asarray(act_batch(np.concatenate([one.records for one in seen]))).tolist()
            else:
                actions = [int(bot.act(one)) for one in seen]
            return {"type": "actions", "id": message["id"], "actions": actions}
    return None
