package org.sparkzorder.command

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table._

/** Refuses tables whose rows an exchange of files could lose or double, before any work is done. */
private[command] object UnsafeTables {

  /**
   * @param all the table's data folders
   * @param chosen those that the statement is about
   */
  def refuse(table: PlainTable, all: Seq[DataFolder], chosen: Seq[DataFolder]): Unit = {
    refuseOptions(table)
    refuseShared(table, all)
    val links = LinkedFiles.of(chosen.flatMap(_.files))
    links.headOption.foreach(f => throw ZOrderErrors.linkedFiles(table.name, f.getPath.toUri.getPath, links.size))
  }

  /** Of all partitions, since a query that reads one of the two cannot tell that the other is being exchanged. */
  def refuseShared(table: PlainTable, all: Seq[DataFolder]): Unit =
    DataFolders.shared(table.fileSystem, all).foreach { shared =>
      val names = Seq(shared.one, shared.other).map(_.path.toUri.getPath)
      // One location of two partitions: only their values tell them apart.
      val shown = if (names.distinct.size == 2) names else Seq(shared.one, shared.other).map(valuesOf(table, _))
      val how = shared.real.fold("the second lies in the first")(r => s"both are the folder $r")
      throw ZOrderErrors.sharedFolder(table.name, shown.head, shown.last, how)
    }

  private def refuseOptions(table: PlainTable): Unit = {
    val asWritten = table.relation.options match {
      case insensitive: CaseInsensitiveMap[String] => insensitive.originalMap
      case others                                  => others
    }
    UnsafeOptions.first(asWritten, table.formatName, table.session.sessionState.newHadoopConf()).foreach { o =>
      throw ZOrderErrors.unsafeOption(table.name, o.name, o.value, o.reason)
    }
  }

  private def valuesOf(table: PlainTable, folder: DataFolder): String =
    table.partitionSchema.fields.zipWithIndex.map { case (field, i) =>
      val value = folder.values.get(i, field.dataType)
      s"${field.name}=${if (value == null) "null" else value.toString}"
    }.mkString("/")
}
