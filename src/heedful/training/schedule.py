"""How fast to learn at each step (section 5.3)."""


def noam_rate(step: int, *, d_model: int, warmup_steps: int) -> float:
    """Equation 3: a linear climb, then a fall with the square root of the step."""
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def peak_rate(given: float, *, d_model: int, warmup_steps: int) -> float:
    """Return the highest rate: as it is given, or that of equation 3 where it is 0."""
    return given or noam_rate(warmup_steps, d_model=d_model, warmup_steps=warmup_steps)


def linear_rate(step: int, *, peak: float, warmup_steps: int, steps: int) -> float:
    """Climb linearly to the peak, then fall linearly to reach zero just after the last step."""
    climb = step / warmup_steps
    fall = (steps + 1 - step) / (steps + 1 - warmup_steps)
    return peak * max(min(climb, fall), 0.0)


def timed_rate(step: int, *, peak: float, warmup_steps: int, progress: float) -> float:
    """Climb step by step, then fall with the time: to zero when progress reaches 1."""
    return peak * min(step / warmup_steps, 1.0 - progress)
