package org.sparkzorder.workload

import java.io.IOException

import com.fasterxml.jackson.annotation.JsonProperty

import org.sparkzorder.codec.Json
import org.sparkzorder.layout.JoinSpec

/** A workload file was not written by this project, or it is damaged. */
final class SketchFormatException(reason: String, cause: Throwable = null) extends IOException(reason, cause)

/** A sketch as JSON. Everything that is read is checked. */
object SketchJson {

  val MaxBytes: Int = 64 << 10

  private val Version = 1

  /** With joins, which older readers would take for columns of the table. */
  private val VersionWithJoins = 2
  private val MaxName = 1024

  private final case class SketchText(version: Int, @JsonProperty(required = true) kinds: Seq[KindText])

  private final case class KindText(queries: Long, columns: Seq[ColumnText])

  private type BinCounts = Option[Seq[java.lang.Long]]

  /** @param starts a step and its count, then the next step and its count, and so on, as in `ends` */
  private final case class ColumnText(
      path: Seq[String],
      join: Option[JoinSpec],
      form: String,
      starts: BinCounts,
      ends: BinCounts
  )

  /** At most [[MaxBytes]]. If there are too many kinds, those with the fewest queries are left out. */
  def write(sketch: WorkloadSketch): Array[Byte] = {
    val short = WorkloadSketch(sketch.kinds.filter { case (kind, _) => kind.forall(isShort) })
    Iterator.iterate(short.kinds.size)(_ * 3 / 4).map(n => bytes(short.most(n))).find(_.length <= MaxBytes).get
  }

  private def isShort(use: ColumnUse): Boolean =
    (use.path +: use.join.toSeq.flatMap(j => Seq(j.dimension, j.key))).forall(isShortName)

  private def isShortName(parts: Seq[String]): Boolean = parts.map(_.length).sum <= MaxName

  private def bytes(sketch: WorkloadSketch): Array[Byte] = {
    val kinds = sketch.ranked.map { case (kind, s) =>
      KindText(s.queries, kind.zip(s.uses).map { case (use, where) => column(use, where) })
    }
    Json.write(SketchText(if (sketch.joins.isEmpty) Version else VersionWithJoins, kinds))
  }

  private def column(use: ColumnUse, where: UseSketch): ColumnText = {
    val path = use.join.fold(use.path)(_ => use.path.drop(JoinSpec.Before))
    ColumnText(path, use.join, use.form.name, positions(where.starts), positions(where.ends))
  }

  private def positions(counts: RankCounts): BinCounts =
    Some(counts.bins.flatMap(b => Seq[java.lang.Long](b.toLong, counts.count(b)))).filter(_.nonEmpty)

  /** @throws SketchFormatException when the bytes are not those of a sketch */
  def read(bytes: Array[Byte]): WorkloadSketch = {
    if (bytes.length > MaxBytes) fail(s"${bytes.length} bytes are more than $MaxBytes")
    val text =
      try Json.read(bytes, classOf[SketchText])
      catch { case e: IOException => throw new SketchFormatException("it is not the JSON of a sketch", e) }
    if (!Seq(Version, VersionWithJoins).contains(text.version)) fail("it is of another version")
    text.kinds.map(kind).foldLeft(WorkloadSketch.empty)(_ ++ _)
  }

  private def kind(text: KindText): WorkloadSketch = {
    if (text.queries < 1 || text.queries > RankCounts.MaxCount) fail("a number of queries is out of range")
    val (uses, sketches) = text.columns.toVector.map(column).unzip
    if (uses.isEmpty || uses.length > WorkloadSketch.MaxColumns) fail(s"a query of ${uses.length} columns")
    if (uses.map(_.path).distinct.length != uses.length) fail("a column is there twice")
    WorkloadSketch(Map(uses -> KindSketch(text.queries, sketches)))
  }

  private def column(text: ColumnText): (ColumnUse, UseSketch) = {
    val names = text.path +: text.join.toSeq.flatMap(j => Seq(j.dimension, j.column, j.key))
    if (names.exists(parts => parts.isEmpty || parts.exists(_.isEmpty) || !isShortName(parts)))
      fail("a name is too long or missing")
    val form = Form.all.find(_.name == text.form).getOrElse(fail("an unknown form"))
    val ends = positions(text.ends)
    if (form != Form.Range && !ends.isEmpty) fail("values have no ends")
    val path = text.join.fold(text.path)(_.attribute(text.path))
    ColumnUse(path, form, text.join) -> UseSketch(positions(text.starts), ends)
  }

  private def positions(text: BinCounts): RankCounts = {
    val numbers = text.toSeq.flatten.map(_.longValue)
    if (numbers.length % 2 != 0 || numbers.length > 2 * RankCounts.Bins) fail("steps and counts do not form pairs")
    val pairs = numbers.grouped(2).map(p => (p.head, p.last)).toVector
    if (pairs.exists { case (bin, _) => bin < 0 || bin >= RankCounts.Bins }) fail("a step is out of range")
    try RankCounts.of(pairs.map { case (bin, n) => bin.toInt -> n }.toMap)
    catch { case e: IllegalArgumentException => throw new SketchFormatException(e.getMessage, e) }
  }

  private def fail(reason: String): Nothing = throw new SketchFormatException(reason)
}
