"""Files of SAS, Stata and SPSS, as far as pandas reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from sartre.data.file_names import STATISTICS
from sartre.data.number_text import with_numbers
from sartre.data.read_text import check_not_repeated

if TYPE_CHECKING:
    from pathlib import Path


def read_statistics(path: Path) -> pd.DataFrame:
    """Read a file of SAS, Stata or SPSS; values with labels become categories, without an order."""
    kind = STATISTICS[path.suffix.lower()]
    readers: dict[str, Callable[[Path], Any]] = {"SAS": _sas, "Stata": _stata, "SPSS": pd.read_spss}
    try:
        frame = readers[kind](path)
    except ImportError:
        raise ImportError(
            f"Reading '{path}' needs pyreadstat; install it with: pip install \"sartre[spss]\", or export a CSV file."
        ) from None
    except Exception as error:  # each reader has errors of its own
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"'{path}' is not a complete {kind} file; write it again, or export a CSV file.") from None
    check_not_repeated([str(name) for name in frame.columns], path)
    return with_numbers(frame)


def _sas(path: Path) -> pd.DataFrame:
    kind: Any = "xport" if path.suffix.lower() == ".xpt" else "sas7bdat"
    return pd.read_sas(path, format=kind, encoding="infer" if kind == "sas7bdat" else "latin-1")


def _stata(path: Path) -> pd.DataFrame:
    """Read a file of Stata; where labels do not cover all values, the values stay numbers."""
    try:
        frame = pd.read_stata(path, order_categoricals=False)
    except ValueError:  # two values share a label
        return pd.read_stata(path, convert_categoricals=False)
    labelled = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    partly = [
        name for name in labelled if not all(isinstance(level, str) for level in frame[name].cat.categories.tolist())
    ]
    if partly:
        numbers = pd.read_stata(path, convert_categoricals=False)
        frame = frame.assign(**{name: numbers[name] for name in partly})
    return frame
