package org.sparkzorder.workload

import java.io.IOException

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.sparkzorder.codec.Json
import org.sparkzorder.layout.JoinSpec

/** A workload file was not written by this project, or it is damaged. */
final class SketchFormatException(reason: String, cause: Throwable = null) extends IOException(reason, cause)

/**
 * A sketch as JSON. RankCounts are a list of a step and its count, then the next step and its count, and so on.
 * Everything that is read is checked.
 */
object SketchJson {

  val MaxBytes: Int = 64 << 10

  private val Version = 1

  /** With joins, which older readers would take for columns of the table. */
  private val VersionWithJoins = 2
  private val MaxName = 1024

  /** At most [[MaxBytes]]. If there are too many kinds, those with the fewest queries are left out. */
  def write(sketch: WorkloadSketch): Array[Byte] = {
    val short = WorkloadSketch(sketch.kinds.filter { case (kind, _) => kind.forall(isShort) })
    Iterator.iterate(short.kinds.size)(_ * 3 / 4).map(n => bytes(short.most(n))).find(_.length <= MaxBytes).get
  }

  private def isShort(use: ColumnUse): Boolean =
    (use.path +: use.join.toSeq.flatMap(j => Seq(j.dimension, j.key))).forall(isShortName)

  private def isShortName(parts: Seq[String]): Boolean = parts.map(_.length).sum <= MaxName

  private def bytes(sketch: WorkloadSketch): Array[Byte] = {
    val root = Json.newObject()
    root.put("version", if (sketch.joins.isEmpty) Version else VersionWithJoins)
    val kinds = root.putArray("kinds")
    sketch.ranked.foreach { case (kind, s) =>
      val node = kinds.addObject()
      node.put("queries", s.queries)
      val columns = node.putArray("columns")
      kind.zip(s.uses).foreach { case (use, where) =>
        val column = columns.addObject()
        Json.addAll(column.putArray("path"), use.join.fold(use.path)(_ => use.path.drop(JoinSpec.Before)))
        use.join.foreach(_.write(column.putObject("join")))
        column.put("form", use.form.name)
        put(column, "starts", where.starts)
        put(column, "ends", where.ends)
      }
    }
    Json.bytes(root)
  }

  private def put(column: ObjectNode, name: String, positions: RankCounts): Unit =
    if (!positions.isEmpty) {
      val list = column.putArray(name)
      positions.bins.foreach(b => list.add(b).add(positions.count(b)))
    }

  /** @throws SketchFormatException when the bytes are not those of a sketch */
  def read(bytes: Array[Byte]): WorkloadSketch = {
    if (bytes.length > MaxBytes) throw new SketchFormatException(s"${bytes.length} bytes are more than $MaxBytes")
    val root = Json.parse(bytes).getOrElse(fail("it is not JSON"))
    if (!Seq(Version, VersionWithJoins).contains(root.path("version").asInt(-1))) fail("it is of another version")
    val kinds = array(root, "kinds").map { node =>
      val queries = node.path("queries")
      if (!queries.isIntegralNumber || !queries.canConvertToLong) fail("a number of queries is not a whole number")
      if (queries.longValue < 1 || queries.longValue > RankCounts.MaxCount) fail("a number of queries is out of range")
      val columns = array(node, "columns").map(column)
      val uses = columns.map(_._1).toVector
      if (uses.isEmpty || uses.length > WorkloadSketch.MaxColumns) fail(s"a query of ${uses.length} columns")
      if (uses.map(_.path).distinct.length != uses.length) fail("a column is there twice")
      WorkloadSketch(Map(uses -> KindSketch(queries.longValue, columns.map(_._2).toVector)))
    }
    kinds.foldLeft(WorkloadSketch.empty)(_ ++ _)
  }

  private def column(node: JsonNode): (ColumnUse, UseSketch) = {
    val path = array(node, "path").map(n => if (n.isTextual) n.textValue else fail("a name is not a text"))
    val join =
      if (node.has("join")) Some(JoinSpec.read(node.path("join")).getOrElse(fail("a join is incomplete"))) else None
    val names = path +: join.toSeq.flatMap(j => Seq(j.dimension, j.column, j.key))
    if (names.exists(parts => parts.isEmpty || parts.exists(_.isEmpty) || !isShortName(parts)))
      fail("a name is too long or missing")
    val form = Form.all.find(_.name == node.path("form").asText).getOrElse(fail("an unknown form"))
    val ends = positions(node, "ends")
    if (form != Form.Range && !ends.isEmpty) fail("values have no ends")
    ColumnUse(join.fold(path)(_.attribute(path)), form, join) -> UseSketch(positions(node, "starts"), ends)
  }

  private def positions(node: JsonNode, name: String): RankCounts =
    if (!node.has(name)) RankCounts.empty
    else {
      val numbers =
        array(node, name).map(n => if (n.canConvertToLong) n.longValue else fail("a count is not a whole number"))
      if (numbers.length % 2 != 0 || numbers.length > 2 * RankCounts.Bins) fail("steps and counts do not form pairs")
      val pairs = numbers.grouped(2).map(p => (p.head, p.last)).toVector
      if (pairs.exists { case (bin, _) => bin < 0 || bin >= RankCounts.Bins }) fail("a step is out of range")
      try RankCounts.of(pairs.map { case (bin, n) => bin.toInt -> n }.toMap)
      catch { case e: IllegalArgumentException => throw new SketchFormatException(e.getMessage, e) }
    }

  private def array(node: JsonNode, name: String): Seq[JsonNode] = node.path(name) match {
    case list: ArrayNode => Json.elements(list)
    case _               => fail(s"'$name' is not a list")
  }

  private def fail(reason: String): Nothing = throw new SketchFormatException(reason)
}
