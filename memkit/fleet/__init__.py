"""Many stores as one: open_many gives a Fleet, whose frames are those of a Store with the column `store` before them."""

from memkit.fleet.fleet import Fleet
from memkit.fleet.opening import open_many
from memkit.fleet.report import FleetReport

__all__ = ["Fleet", "FleetReport", "open_many"]
