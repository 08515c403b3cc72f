"""How the rate of learning goes over a training run: up to the full rate, then evenly down to nothing."""


def share_of_rate(step: int, steps: int, warm_up: float) -> float:
    """The share of the full rate at a step, counted from 0; `warm_up` is the share of the steps in which it rises."""
    rising = (step + 1) / max(1.0, warm_up * steps)
    falling = (1 - step / steps) / (1 - warm_up)
    return min(1.0, rising, falling)
