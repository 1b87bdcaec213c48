"""Check the installed wheel: the package works and has its data. `make build` runs this in an empty environment."""

from importlib.resources import files
from pathlib import Path

import sartre
from sartre.datasets import load_sachs
from sartre.report.assets import PAGE_SCRIPTS, PAGE_STYLES

X, _ = load_sachs()
assert "site-packages" in Path(sartre.__file__).parts, f"this is not the wheel: {sartre.__file__}"
assert sartre.CausalDiscovery(random_state=0).fit(X.iloc[:200, :4]).graph_.names == list(X.columns[:4])
page = files("sartre.report")
needed = ("page.html", *PAGE_SCRIPTS, *PAGE_STYLES)
assert all((page / name).is_file() for name in needed), "the report's page is missing"
assert (files("sartre.app") / "static" / "page.html").is_file(), "the app's page is missing"
