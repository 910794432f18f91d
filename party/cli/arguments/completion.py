"""Print what lets a shell complete the commands, options and files of `cotally`, in the shell's language.

Examples:
  cotally completion bash > ~/.local/share/bash-completion/completions/cotally
  cotally completion zsh > ~/.zfunc/_cotally
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"), help="whose language to print")
