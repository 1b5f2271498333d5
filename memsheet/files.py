"""Writing a file whole or not at all."""

import os
import secrets
from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Write a file under a name of its own in the same folder, then rename it; nothing half-written is ever seen.

    Raises OSError where the folder cannot be written to.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
