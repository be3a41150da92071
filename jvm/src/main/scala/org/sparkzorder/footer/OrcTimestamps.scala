package org.sparkzorder.footer

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.orc.{OrcFile, TypeDescription}
import org.apache.orc.TypeDescription.Category

/** Timestamps as an ORC file stores them: seconds, and nanoseconds beside them. */
private[footer] object OrcTimestamps {

  /**
   * Columns of instants and of wall clocks at any depth, each with the names of the struct fields
   * on the way to it.
   */
  def columns(schema: TypeDescription): Seq[(Seq[String], TypeDescription)] = below(schema, Nil)

  private def below(t: TypeDescription, names: List[String]): Seq[(Seq[String], TypeDescription)] =
    t.getCategory match {
      case Category.TIMESTAMP | Category.TIMESTAMP_INSTANT => Seq(names.reverse -> t)
      case Category.STRUCT                                 =>
        t.getFieldNames.asScala.toSeq.zip(t.getChildren.asScala).flatMap { case (n, child) => below(child, n :: names) }
      case _ => Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(below(_, names))
    }

  /** The first column with a value that is not a whole number of microseconds. */
  def firstFiner(conf: Configuration, file: FileStatus): Option[Seq[String]] = {
    val reader = OrcFile.createReader(file.getPath, OrcFile.readerOptions(conf))
    try {
      val schema = reader.getSchema
      val wanted = columns(schema)
      val included = new Array[Boolean](schema.getMaximumId + 1)
      wanted.foreach { case (_, t) =>
        Iterator.iterate(t)(_.getParent).takeWhile(_ != null).foreach(up => included(up.getId) = true)
      }
      val rows = reader.rows(reader.options().include(included))
      try {
        val batch = schema.createRowBatch()
        Iterator.continually(rows.nextBatch(batch)).takeWhile(identity).flatMap { _ =>
          val found = wanted.iterator.filter { case (_, t) =>
            vectorsOf(schema, batch, t).exists { case (vector, count) => isFiner(vector, count) }
          }
          found.map(_._1).nextOption()
        }.nextOption()
      } finally rows.close()
    } finally reader.close()
  }

  /**
   * The vector with a column's values of this batch, and the number of its values: inside of lists
   * and maps there may be more values than rows.
   */
  private def vectorsOf(
      schema: TypeDescription,
      batch: VectorizedRowBatch,
      column: TypeDescription
  ): Option[(TimestampColumnVector, Int)] = {
    val path = Iterator.iterate(column)(_.getParent).takeWhile(_ ne schema).toList.reverse
    // A file may consist of one column without a struct around it.
    val start: (ColumnVector, List[TypeDescription], Int) =
      if (path.isEmpty) (batch.cols(0), Nil, batch.size)
      else if (schema.getCategory == Category.STRUCT)
        (batch.cols(schema.getChildren.indexWhere(path.head)), path, batch.size)
      else (batch.cols(0), schema :: path, batch.size)
    def down(vector: ColumnVector, path: List[TypeDescription], count: Int): Option[(TimestampColumnVector, Int)] =
      (vector, path) match {
        case (t: TimestampColumnVector, _)               => Some((t, count))
        case (s: StructColumnVector, self :: next :: to) =>
          down(s.fields(self.getChildren.indexWhere(next)), next :: to, count)
        case (u: UnionColumnVector, self :: next :: to) =>
          down(u.fields(self.getChildren.indexWhere(next)), next :: to, count)
        case (l: ListColumnVector, _ :: next :: to)   => down(l.child, next :: to, l.childCount)
        case (m: MapColumnVector, self :: next :: to) =>
          down(if (self.getChildren.get(0) eq next) m.keys else m.values, next :: to, m.childCount)
        case _ => None
      }
    down(start._1, start._2, start._3)
  }

  private implicit class Children(children: java.util.List[TypeDescription]) {
    def indexWhere(child: TypeDescription): Int = children.asScala.indexWhere(_ eq child)
  }

  private def isFiner(vector: TimestampColumnVector, count: Int): Boolean = {
    val last = if (vector.isRepeating) math.min(1, count) else count
    var i = 0
    var found = false
    while (i < last && !found) {
      found = (vector.noNulls || !vector.isNull(i)) && Nanoseconds.isFiner(vector.nanos(i).toLong)
      i += 1
    }
    found
  }
}
