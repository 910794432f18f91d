"""The tic-tac-toe set, by playing: every board on which a game can end when x moves first."""

from collections.abc import Iterator

Board = tuple[str, ...]

BLANK = "b"
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def final_boards() -> list[tuple[str, ...]]:
    """Return the nine squares of each board, and "positive" where x has won; in the order of the UCI file.

    That is: games that x wins, that o wins, drawn ones; in each the squares in the order x, o, blank.
    """
    rank = {"x": 0, "o": 1, None: 2, BLANK: 2}
    boards = sorted(_ends(), key=lambda board: (rank[_winner(board)], [rank[square] for square in board]))
    return [(*board, "positive" if _winner(board) == "x" else "negative") for board in boards]


def _ends() -> set[Board]:
    ended: set[Board] = set()
    running: set[Board] = {(BLANK,) * 9}
    for turn in range(9):
        running = {moved for board in running for moved in _moves(board, "xo"[turn % 2])}
        ended |= {board for board in running if _winner(board)}
        running -= ended
    return ended | running


def _moves(board: Board, player: str) -> Iterator[Board]:
    for square, mark in enumerate(board):
        if mark == BLANK:
            yield (*board[:square], player, *board[square + 1 :])


def _winner(board: Board) -> str | None:
    won = (board[a] for a, b, c in _LINES if board[a] == board[b] == board[c] != BLANK)
    return next(won, None)
