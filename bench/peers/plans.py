"""Reads what the scans of a query that has run say of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame


def final(frame: DataFrame) -> Any:
    """The physical plan that ran. Adaptive execution may have changed the one that was planned."""
    query: Any = frame._jdf
    plan = query.queryExecution().executedPlan()
    return plan.executedPlan() if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec" else plan


def nodes(plan: Any) -> Iterator[Any]:
    """All nodes of a physical plan."""
    # A stage of a shuffle holds its plan beside its children.
    if plan.getClass().getSimpleName().endswith("QueryStageExec"):
        yield from nodes(plan.plan())
        return
    yield plan
    children = plan.children()
    for i in range(children.size()):
        yield from nodes(children.apply(i))


def metric(node: Any, *names: str) -> int:
    """The sum of those of a node's metrics that it has."""
    found = [node.metrics().get(name) for name in names]
    return sum(int(value.get().value()) for value in found if value.isDefined())


def sum_of_files(plan: Any) -> int:
    """The files that the scans of a physical plan have opened."""
    # The second one is Iceberg's.
    return sum(metric(node, "numFiles", "resultDataFiles") for node in nodes(plan))
