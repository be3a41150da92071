package org.sparkzorder.commit

/** How an operation exchanges files of the table for others. A record says it in the field `way`. */
sealed abstract class Way(val name: String)

object Way {

  /** Files are renamed, on a disk or on HDFS, see `docs/design/commit.md`. */
  case object InPlace extends Way("in-place")

  /** Uploads are completed and files deleted, see `docs/design/commit.md`. */
  case object ObjectStore extends Way("object-store")

  /** The catalog is told of new folders. */
  case object Catalog extends Way("catalog")

  val all: Seq[Way] = Seq(InPlace, ObjectStore, Catalog)
}
