package org.sparkzorder.memory.keep

import org.apache.hadoop.security.UserGroupInformation

import org.sparkzorder.commit.TableFolder

/**
 * A filter over a table whose filters outlive the process.
 *
 * @param name of the table as the memory knows it
 * @param user who runs the query; what is kept is read and written as this user
 * @param columns of the files that the filter is about
 * @param mayKeep whether something about a column may be kept
 */
private[sparkzorder] final case class KeptTable(
    name: String,
    folder: TableFolder,
    user: UserGroupInformation,
    columns: Set[String],
    mayKeep: String => Boolean
)
