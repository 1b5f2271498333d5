"""The house: where the folders of formulas, templates, scenarios and measurements lie."""

from pathlib import Path

FOLDERS = ("formulas", "templates", "scenarios", "measurements")

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder of that name: inside the package in a wheel, beside it in a checkout.

    Raises ValueError for a name that is none of FOLDERS, FileNotFoundError when the folder is in neither place.
    """
    if name not in FOLDERS:
        raise ValueError(f"{name!r} is no folder of memsheet: it has {', '.join(FOLDERS)}")
    places = [_PACKAGE / name]
    # One level up from a wheel is site-packages, where a folder of that name would be a stranger's.
    if (_PACKAGE.parent / "pyproject.toml").is_file():
        places.append(_PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    looked = " or ".join(str(place) for place in places)
    raise FileNotFoundError(f"no folder {name} at {looked}: install memsheet again, or restore it in the checkout")
