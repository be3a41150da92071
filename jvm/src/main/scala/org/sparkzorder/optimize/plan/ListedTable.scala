package org.sparkzorder.optimize.plan

import org.sparkzorder.commit.log.TableState
import org.sparkzorder.table.PlainTable

/** A table with its files, and the state of its side folder from before they were listed. */
private[sparkzorder] final case class ListedTable(state: TableState, table: PlainTable)
