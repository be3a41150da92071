package org.sparkzorder.predicate

import org.apache.spark.sql.types.DataType

/**
 * A top-level column, or a field of a struct.
 *
 * @param path names from the top-level column down; a name may have dots in it
 * @param dataType the type under which its statistics are stored
 */
final case class Column(path: Seq[String], dataType: DataType)
