"""`okey export`: writes a trained agent, or a network from another trainer, as a folder that plays without torch."""

import argparse
from pathlib import Path

HELP = "write a trained agent as a bot folder, which plays without torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument(
        "run",
        metavar="RUN",
        help="folder of the training run; or with --encoder a torch module as my_net.py:NAME, or a file .onnx",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder to write the bot to")
    parser.add_argument("--encoder", metavar="NAME", help="the encoder whose arrays the network reads")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="state dict to load into the torch module")
    parser.add_argument("--name", metavar="TEXT", help="of the bot (the name of the folder)")


def run(arguments: argparse.Namespace) -> int:
    """Export the bot and print its folder."""
    if arguments.encoder is None:
        if arguments.weights is not None or arguments.name is not None:
            raise ValueError("--weights and --name belong to a network from elsewhere: expected --encoder with them")
        from okey_agents.training.export import export

        print(f"exported: {export(Path(arguments.run), arguments.folder)}")
        return 0
    from okey_agents.training.foreign import export_foreign

    folder = export_foreign(arguments.run, arguments.folder, arguments.encoder, arguments.weights, arguments.name)
    print(f"exported: {folder}")
    return 0
