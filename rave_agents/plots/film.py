"""Films of episodes: pictures of an environment, optionally with the statistics of a search."""

import functools
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.files import replacing
from rave_agents.game.arguments import check_names
from rave_agents.game.validation import Positive, validated

FORMATS = (".gif", ".mp4")
"""Kinds of files, by their suffix."""

LAST = 3
"""Duration of the last picture, as a multiple of the others'."""


class Film:
    """A sequence of pictures, written as GIF, or as MP4 with the program ``ffmpeg``.

    The package ``imageio-ffmpeg`` contains the program, too.

    Args:
        path: the file to write; its suffix says the kind.
        fps: pictures a second, above 0.
        quantity: the quantity of a search to draw next to the picture, a name of
            ``rave_agents.plots.result_plot.QUANTITIES`` such as ``"visits"``; None for none.

    Raises:
        ValueError: for another suffix, quantity or ``fps``.
        UnsupportedGameError: for MP4 without ``ffmpeg``.
    """

    @validated
    def __init__(
        self, path: str | os.PathLike[str], *, fps: Positive = 2.0, quantity: str | None = None
    ) -> None:
        self.path: pathlib.Path = pathlib.Path(path)
        """The file."""
        if self.path.suffix.lower() not in FORMATS:
            raise ValueError(f"path must end in one of {', '.join(FORMATS)}, got {str(path)!r}.")
        if self.path.suffix.lower() == ".mp4" and ffmpeg() is None:
            raise UnsupportedGameError(
                "MP4 needs the program ffmpeg, which is not installed: install it, or the package "
                "imageio-ffmpeg, or record a .gif instead."
            )
        self._add_statistics: Callable[[NDArray[np.uint8], Any, str], NDArray[np.uint8]] | None
        self._add_statistics = None
        if quantity is not None:
            from rave_agents.plots import result_plot  # noqa: PLC0415  (slow: matplotlib)

            check_names("quantity", [quantity], result_plot.QUANTITIES, ValueError)
            self._add_statistics = functools.partial(result_plot.add_statistics, quantity=quantity)
        self._fps = fps
        self._pictures: list[NDArray[np.uint8]] = []

    def __len__(self) -> int:
        """The number of pictures."""
        return len(self._pictures)

    def add(self, picture: Any, result: Any = None, title: str = "") -> None:
        """Add a picture.

        Args:
            picture: an array of rows, columns and three colours, from 0 to 255.
            result: the ``SearchResult`` that led from there on; None for no search.
            title: a line above the search's statistics.

        Raises:
            ValueError: if ``picture`` is no such array.
        """
        pixels = np.asarray(picture)
        if pixels.ndim != 3 or pixels.shape[2] != 3:
            raise ValueError(
                "An environment must be drawn as an array of rows, columns and colours; render() "
                f"returned {picture!r:.80}. Make it with render_mode='rgb_array'."
            )
        pixels = pixels.astype(np.uint8)
        if self._add_statistics is not None:
            pixels = self._add_statistics(pixels, result, title)
        self._pictures.append(pixels)

    def save(self) -> pathlib.Path:
        """Write the file, and return its path.

        Raises:
            ValueError: without pictures.
            OSError: if it cannot be written.
        """
        if not self._pictures:
            raise ValueError("There are no pictures to save.")
        rows = max(picture.shape[0] for picture in self._pictures)
        columns = max(picture.shape[1] for picture in self._pictures)
        even = [
            # Video encoders need even numbers of rows and columns.
            _padded(picture, rows + rows % 2, columns + columns % 2)
            for picture in self._pictures
        ]
        if self.path.suffix.lower() == ".mp4":
            self._save_mp4([*even, *even[-1:] * (LAST - 1)])  # Its pictures last equally long.
        else:
            self._save_gif(even)
        return self.path

    def _save_gif(self, pictures: list[NDArray[np.uint8]]) -> None:
        from PIL import Image  # noqa: PLC0415  (optional: comes with matplotlib)

        images = [Image.fromarray(picture) for picture in pictures]
        shown = [round(1000 / self._fps)] * len(images)
        shown[-1] *= LAST
        with replacing(self.path) as path:
            images[0].save(path, save_all=True, append_images=images[1:], duration=shown, loop=0)

    def _save_mp4(self, pictures: list[NDArray[np.uint8]]) -> None:
        program = ffmpeg()
        assert program is not None
        rows, columns, _ = pictures[0].shape
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{columns}x{rows}"]
        command = [program, "-y", "-loglevel", "error", *source, "-r", str(self._fps), "-i", "-"]
        with replacing(self.path) as path:
            finished = subprocess.run(
                [*command, "-pix_fmt", "yuv420p", str(path)],
                input=b"".join(picture.tobytes() for picture in pictures),
                capture_output=True,
                check=False,
            )
            if finished.returncode:
                said = finished.stderr.decode(errors="replace").strip()
                raise OSError(f"ffmpeg cannot write {self.path}: {said}")


def ffmpeg() -> str | None:
    """Return the path of the program ffmpeg, or else of imageio-ffmpeg's; None without."""
    program = shutil.which("ffmpeg")
    if program is None:
        try:
            import imageio_ffmpeg  # noqa: PLC0415  (optional: imageio-ffmpeg)

            program = imageio_ffmpeg.get_ffmpeg_exe()
        except (ImportError, RuntimeError):  # It is not installed, or has no program here.
            return None
    return program


def _padded(picture: NDArray[np.uint8], rows: int, columns: int) -> NDArray[np.uint8]:
    ground = np.full((rows, columns, 3), 255, np.uint8)
    ground[: picture.shape[0], : picture.shape[1]] = picture
    return ground
