"""Where a method computes: with NumPy on the CPU, or with PyTorch, which is imported only when used, on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from sartre.settings import check_choice

DEVICES = ("cpu", "cuda")


def require_torch(owner: str, extra: str) -> Any:
    """Import PyTorch, or say how to install it."""
    try:
        import torch  # noqa: PLC0415 - large and optional
    except ImportError:
        raise ImportError(f'{owner} needs PyTorch. Install it with: pip install "sartre[{extra}]".') from None
    return torch


def check_device(owner: str, device: str) -> Any:
    """Return None for the CPU, or PyTorch's device for a GPU; refuse a device that cannot be used.

    Examples
    --------
    >>> check_device("SCORE", "cpu") is None
    True
    """
    check_choice(owner, "device", device, DEVICES)
    if device == "cpu":
        return None
    torch = require_torch(f'{owner} with device="{device}"', "gpu")
    if not torch.cuda.is_available():
        raise ValueError(
            f"The 'device' parameter of {owner} is '{device}', but PyTorch sees no GPU. Use 'cpu', or check the GPU's "
            "driver and that PyTorch was built for it (torch.version.cuda)."
        )
    torch.linalg.cholesky(torch.eye(1, device=device))  # loads its library, which fails if two threads do so at once
    return torch.device(device)


def as_array(values: Any) -> Any:
    """Return an array as it is, and a tensor as an array on the CPU.

    Examples
    --------
    >>> as_array(np.arange(3))
    array([0, 1, 2])
    """
    return values if isinstance(values, np.ndarray) else values.cpu().numpy()
