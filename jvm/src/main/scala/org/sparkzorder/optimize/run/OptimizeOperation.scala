package org.sparkzorder.optimize.run

import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.TableSideFolder

private[sparkzorder] object OptimizeOperation {

  /**
   * Writes, checks and publishes the rewrites of a plan as one version of the table, either all of them or none.
   *
   * @param groups the plan's rewrites; those of a group are one job
   * @param state of the side folder, read under the lock
   */
  def run(
      statement: OptimizeStatement,
      plan: OptimizePlan,
      groups: Seq[Seq[Rewrite]],
      lock: Lock,
      state: TableState
  ): CommittedRewrite = {
    val folder = TableSideFolder.of(plan.table)
    val index = TableIndex.of(plan.table, state)
    plan.partitions match {
      case Some(partitions) => new OptimizeByCatalog(statement, plan, groups, folder, lock, index, partitions).run()
      case None             => new OptimizeInFolders(statement, plan, groups, folder, lock, index).run()
    }
  }
}
