package org.sparkzorder.memory.keep

import org.apache.hadoop.security.UserGroupInformation

import org.sparkzorder.commit.TableFolder

/**
 * A table whose filters outlive the process.
 *
 * @param name as the memory knows it
 * @param user who runs the query; what is kept is read and written as this user
 */
private[sparkzorder] final case class KeptTable(name: String, folder: TableFolder, user: UserGroupInformation)
