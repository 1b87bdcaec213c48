"""How long a model would take, and how much memory, told before anything is run."""

from sartre.plan.estimate import Plan, Step, plan, reading_step, shape_of

__all__ = ["Plan", "Step", "plan", "reading_step", "shape_of"]
