"""A denoising network and its derivatives: all that DiffAN needs from PyTorch, which is imported only when used.

Noise is added to a row x in T steps, x_t = sqrt(a_t) x + sqrt(1 - a_t) e, and a network learns e from x_t and t. The
score of x_t is then -network / sqrt(1 - a_t) (Ho, Jain and Abbeel, 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.compute.devices import require_torch

N_STEPS = 100
NOISE = np.linspace(1e-4, 0.02, N_STEPS)  # variance added by every step
KEPT = np.cumprod(1 - NOISE)  # a_t
TRAINING_BATCH = 256
LEARNING_RATE = 2e-3
HELD_OUT = 5  # one row in five is held out to measure the loss
REPEATS = 8  # noisy copies of every held-out row, the same at each check
LOOK, PATIENCE = 5, 100  # epochs between two checks, and epochs without improvement before training ends


class Diffusion:
    """A denoising network for the columns of a table.

    Parameters
    ----------
    Z : array of shape (n, d)
        Standardised columns.
    width : int
        Units in each of the three hidden layers.
    device : str
        The device on which PyTorch runs.
    seed : int
        Seed of the weights, the held-out rows and all noise. PyTorch's own random state is not changed.
    """

    def __init__(self, Z: NDArray[np.float64], width: int, device: str, seed: int) -> None:
        torch = self._torch = require_torch("DiffAN", "diffan")
        nn, d = torch.nn, Z.shape[1]
        self._device = torch.device(device)
        self._random = torch.Generator().manual_seed(seed % 2**63)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed % 2**63)
            layers = [nn.Linear(d + 1, width), nn.Tanh()]
            for _ in range(2):
                layers += [nn.Linear(width, width), nn.Tanh()]
            self._network = nn.Sequential(*layers, nn.Linear(width, d)).to(self._device)
        rows = torch.as_tensor(Z[torch.randperm(len(Z), generator=self._random).numpy()], dtype=torch.float32)
        self._held_out, self._rows = rows[: max(1, len(Z) // HELD_OUT)], rows[max(1, len(Z) // HELD_OUT) :]
        self._kept = torch.as_tensor(KEPT, dtype=torch.float32)
        self._d = d

    def train(self, columns: NDArray[np.intp], n_epochs: int) -> float:
        """Continue training on the given columns only; return the loss on the held-out rows.

        The final weights are those with the smallest loss there, which may be the initial ones.
        """
        torch = self._torch
        mask = torch.zeros(self._d, device=self._device)
        mask[torch.as_tensor(columns, device=self._device)] = 1.0
        test = self._noisy(self._held_out.repeat(REPEATS, 1))
        optimizer = torch.optim.Adam(self._network.parameters(), lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_epochs)
        best, weights, since = self._look(test, mask), self._weights(), 0
        for epoch in range(1, n_epochs + 1):
            for batch in self._rows[torch.randperm(len(self._rows), generator=self._random)].split(TRAINING_BATCH):
                optimizer.zero_grad()
                self._loss(*self._noisy(batch), mask).backward()
                optimizer.step()
            schedule.step()
            since += 1
            if epoch % LOOK == 0 or epoch == n_epochs:
                loss = self._look(test, mask)
                if loss < best:
                    best, weights, since = loss, self._weights(), 0
                if since > PATIENCE:
                    break
        self._network.load_state_dict(weights)
        return best

    def _look(self, test: tuple[Any, Any, Any], mask: Any) -> float:
        with self._torch.no_grad():
            loss = float(self._loss(*test, mask))
        return loss if math.isfinite(loss) else math.inf

    def _weights(self) -> dict[str, Any]:
        return {name: tensor.clone() for name, tensor in self._network.state_dict().items()}

    def _noisy(self, rows: Any) -> tuple[Any, Any, Any]:
        """Return rows with the noise of a random step, the noise, and the step as a share of all steps."""
        torch = self._torch
        step = torch.randint(0, N_STEPS, (len(rows), 1), generator=self._random)
        noise = torch.randn(rows.shape, generator=self._random)
        kept = self._kept[step]
        noisy = kept.sqrt() * rows + (1 - kept).sqrt() * noise
        return noisy.to(self._device), noise.to(self._device), (step / N_STEPS).to(self._device)

    def _loss(self, noisy: Any, noise: Any, step: Any, mask: Any) -> Any:
        guess = self._network(self._torch.cat([noisy * mask, step], dim=1))
        return ((guess - noise) ** 2 * mask).sum() / (mask.sum() * len(noisy))

    def derivatives(
        self,
        Z: NDArray[np.float64],
        step: int,
        removed: NDArray[np.intp],
        remove: Callable[[Any, Any, int], tuple[Any, Any]] | None = None,
    ) -> NDArray[np.float64]:
        """Return d network_j / d x_j at the mean of each noisy row of a step, shape (n, d).

        Without `remove`, the removed columns are set to zero in the input. Otherwise the rule ``remove(value, jacobian,
        leaf) -> (value, jacobian)`` removes them one by one from the network of all columns.
        """
        torch = self._torch
        mask = torch.ones(self._d, device=self._device)
        if remove is None:
            mask[torch.as_tensor(removed, device=self._device)] = 0.0
        share = torch.tensor([step / N_STEPS], dtype=torch.float32, device=self._device)
        rows = math.sqrt(KEPT[step]) * torch.as_tensor(Z, dtype=torch.float32, device=self._device)

        def network(x: Any) -> Any:
            return self._network(torch.cat([x * mask, share]))

        function = network if remove is None else self._without(network, removed.tolist(), remove)
        with torch.no_grad():
            jacobians = torch.func.vmap(torch.func.jacrev(function))(rows)
        return torch.diagonal(jacobians, dim1=1, dim2=2).double().cpu().numpy()

    def _without(
        self, function: Callable[[Any], Any], removed: list[int], remove: Callable[[Any, Any, int], tuple[Any, Any]]
    ) -> Callable[[Any], Any]:
        """Return the function of one row from which a rule has removed the given columns."""

        def corrected(x: Any) -> Any:
            value, jacobian = function(x), self._torch.func.jacrev(function)(x)
            for leaf in removed:
                value, jacobian = remove(value, jacobian, leaf)
            return value

        return corrected if removed else function
