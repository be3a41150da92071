package org.sparkzorder.memory

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * How the memory tells tables apart: by the folder that the catalog names, or by the paths that a query names. Files are
 * known by their own paths, so nothing depends on two names being of one table.
 */
private[sparkzorder] object TableNames {

  def of(l: LogicalRelation, relation: HadoopFsRelation): String =
    l.catalogTable.flatMap(_.storage.locationUri).map(uri => new Path(uri).toString)
      .getOrElse(relation.location.rootPaths.map(_.toString).sorted.mkString("\n"))

  /** Whether some path in the name is a folder, or below it. */
  def isAt(name: String, root: Path): Boolean =
    name.split('\n').exists(path => path == root.toString || path.startsWith(s"$root/"))
}
