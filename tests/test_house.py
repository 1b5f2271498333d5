"""Where the folders lie: beside the package in a checkout, inside it in a wheel."""

import pytest

from memsheet import house


@pytest.mark.parametrize("name", house.FOLDERS)
def test_every_folder_is_there(name):
    assert house.folder(name).is_dir() and house.folder(name).name == name


def test_another_folder_is_no_part_of_the_house():
    with pytest.raises(ValueError, match="'tests' is no folder of memsheet: it has formulas, templates, scenarios, measurements"):
        house.folder("tests")


def test_a_wheel_has_its_folders_inside(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "memsheet"
    (package / "formulas").mkdir(parents=True)
    monkeypatch.setattr(house, "_PACKAGE", package)
    assert house.folder("formulas") == package / "formulas"


def test_a_strangers_folder_beside_an_installed_package_is_left_alone(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "memsheet"
    package.mkdir(parents=True)
    (tmp_path / "site-packages" / "templates").mkdir()
    monkeypatch.setattr(house, "_PACKAGE", package)
    with pytest.raises(FileNotFoundError, match=r"no folder templates at .*: install memsheet again, or restore it in the checkout"):
        house.folder("templates")


def test_a_checkout_has_its_folders_beside_the_package(tmp_path, monkeypatch):
    (tmp_path / "memsheet").mkdir()
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(house, "_PACKAGE", tmp_path / "memsheet")
    assert house.folder("scenarios") == tmp_path / "scenarios"
