package org.sparkzorder.table

import org.apache.hadoop.fs.{FileSystem, Path}

import org.sparkzorder.compat._

/**
 * Recognizes folders of table formats that list their files in a log. We must not rewrite such
 * folders: readers of the log would not find the new files.
 */
object ForeignFormats {

  /**
   * @param format the format's name
   * @param marker the file or folder that identifies it
   */
  final case class FormatMark(format: String, marker: String, folder: Path)

  private val markers = Seq(
    "_delta_log" -> "Delta Lake",
    ".hoodie" -> "Apache Hudi",
    "_spark_metadata" -> "a streaming sink of Spark"
  )

  /**
   * The first marker in the folder, or in a folder above it of which it is a partition. Iceberg has its files in a folder
   * `data` beside its `metadata`.
   */
  def markerIn(fs: FileSystem, folder: Path): Option[FormatMark] = {
    val tables = withTablesAbove(folder)
    (tables.iterator ++ tables.lastOption.filter(_.getName == "data").flatMap(d => Option(d.getParent)).iterator)
      .flatMap(inOne(fs, _)).nextOption()
  }

  /** The folder, then each folder above it as long as the lower one has a name like a partition, `column=value`. */
  def withTablesAbove(folder: Path): Seq[Path] =
    Iterator
      .iterate(Option(folder))(_.flatMap(f => if (isPartition(f)) Option(f.getParent) else None))
      .takeWhile(_.isDefined)
      .flatten
      .toVector

  def isPartition(folder: Path): Boolean = folder.getName.indexOf('=') > 0

  private def inOne(fs: FileSystem, folder: Path): Option[FormatMark] = {
    val names = PathKinds.namesIfShort(fs, folder)
    def mayHave(name: String) = names.forall(_(name))
    markers.collectFirst {
      case (name, format) if mayHave(name) && PathKinds.exists(fs, new Path(folder, name)) =>
        FormatMark(format, name, folder)
    }.orElse {
      val metadata = new Path(folder, "metadata")
      val isIceberg = mayHave("metadata") && PathKinds.isFolder(fs, metadata) &&
        fs.listStatus(metadata).exists { s =>
          val n = s.getPath.getName
          n.endsWith(".metadata.json") || n == "version-hint.text" || n.endsWith(".avro")
        }
      val isPaimon = Seq("snapshot", "manifest", "schema").forall { name =>
        mayHave(name) && PathKinds.isFolder(fs, new Path(folder, name))
      }
      if (isIceberg) Some(FormatMark("Apache Iceberg", "metadata", folder))
      else if (isPaimon) Some(FormatMark("Apache Paimon", "snapshot", folder))
      else None
    }
  }
}
