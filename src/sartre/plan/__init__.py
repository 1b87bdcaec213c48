"""How much time and memory a model would take, estimated before anything is run."""

from sartre.plan.estimate import Plan, Step, plan, reading_step, shape_of

__all__ = ["Plan", "Step", "plan", "reading_step", "shape_of"]
