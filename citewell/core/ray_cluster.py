"""The connection to a Ray cluster, https://docs.ray.io, for work on many machines."""

from __future__ import annotations

import math
import os
from typing import Any

from pydantic import Field

from citewell.core.errors import CitewellError
from citewell.core.packages import need_packages
from citewell.core.section import Section

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # or Ray sends usage statistics
    "RAY_ENABLE_AUTO_CONNECT": "0",  # or Ray restarts when its work continues after its shutdown
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # or Ray prints internal warnings
}


class RayWorkers(Section):
    """The workers of the engine `ray`."""

    address: str = Field(
        "",
        description="Address of the cluster, or `auto`; without one, that of `RAY_ADDRESS`, or else Ray is "
        "started on this machine.",
    )
    workers: int = Field(2, ge=1, description="Worker processes.")
    cpus: float = Field(1.0, ge=0, description="CPUs that each worker reserves.")
    gpus: float = Field(0.0, ge=0, description="GPUs that each worker reserves.")


def connect(config: RayWorkers) -> bool:
    """Connect to Ray or start it, unless it is running already; return whether it was not.

    Then `ray.shutdown()` is to be called at the end. Raises `InputError` without the package ray, and
    `CitewellError` if the cluster cannot be used.
    """
    need_packages("The engine ray", "ray", "ray")
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    address = config.address or os.environ.get("RAY_ADDRESS", "")
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            cpus = math.ceil(config.workers * config.cpus)
            # "local" starts Ray beside a cluster that another program started on this machine.
            ray.init(address="local", num_cpus=max(1, cpus), include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = f"The Ray cluster {address}" if address else "Ray"
        raise CitewellError(
            f"{where} cannot be used: {error}.",
            "Start it with `ray start --head`, or correct the address.",
        ) from error
    return True


def cluster_failed(error: Exception) -> CitewellError:
    """Return the error of a cluster that failed during the work; the same command resumes."""
    return CitewellError(
        f"The Ray cluster failed: {str(error).strip().splitlines()[-1]}",
        "See `ray status` and Ray's logs; the same command resumes.",
    )
