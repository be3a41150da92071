package org.sparkzorder.memory.keep

import java.io.IOException

import com.fasterxml.jackson.databind.JsonNode
import org.roaringbitmap.RoaringBitmap

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.TableFolder
import org.sparkzorder.memory.{KeptFilter, ReadFile}

/**
 * Kept filters as JSON: a list of files, and for each filter the positions of its files in the list, as ranges. Everything
 * that is read is checked.
 */
private[memory] object KeptJson {

  private val Version = 1
  private val MostConditions = 1000

  /** @return at most `most` bytes. If there are too many filters, those with the fewest files are left out */
  def write(folder: TableFolder, filters: Seq[KeptFilter], most: Int): Array[Byte] = {
    val ranked = filters.sortBy(f => (-f.files.size, f.settings, f.conditions.toVector.sorted.mkString))
    Iterator.iterate(ranked.size)(_ * 3 / 4).map(n => bytes(folder, ranked.take(n))).find(_.length <= most).get
  }

  private def bytes(folder: TableFolder, filters: Seq[KeptFilter]): Array[Byte] = {
    val named = filters.flatMap(_.files).distinct.flatMap(f => folder.relative(f.path).map(f -> _))
      .sortBy { case (f, name) => (name, f.values) }
    val places = named.iterator.map(_._1).zipWithIndex.toMap
    val root = Json.newObject()
    root.put("version", Version)
    val files = root.putArray("files")
    named.foreach { case (f, name) => files.addArray().add(name).add(f.length).add(f.time).add(f.values) }
    val list = root.putArray("filters")
    filters.foreach { f =>
      val node = list.addObject()
      node.put("settings", f.settings)
      Json.addAll(node.putArray("conditions"), f.conditions.toVector.sorted)
      val bitmap = new RoaringBitmap
      f.files.foreach(file => places.get(file).foreach(bitmap.add(_)))
      val ranges = node.putArray("files")
      var from = bitmap.nextValue(0)
      while (from >= 0) {
        val end = bitmap.nextAbsentValue(from.toInt)
        ranges.add(from).add(end)
        from = bitmap.nextValue(end.toInt)
      }
    }
    Json.bytes(root)
  }

  /** @throws java.io.IOException when the bytes are not of this form */
  def read(folder: TableFolder)(bytes: Array[Byte]): Seq[KeptFilter] = {
    val root = Json.read(bytes)
    check(Json.long(root, "version").contains(Version.toLong), "its version is unknown")
    val files = Json.elements(root.path("files")).map(file(folder, _))
    Json.elements(root.path("filters")).map { node =>
      val conditions = Json.elements(node.path("conditions"))
      check(conditions.nonEmpty && conditions.length <= MostConditions, "a filter has no conditions, or too many")
      val settings = Json.text(node, "settings")
      check(settings.isDefined && conditions.forall(_.isTextual), "a digest is no text")
      val ends = Json.elements(node.path("files"))
      check(ends.length % 2 == 0 && ends.forall(e => e.isIntegralNumber && e.canConvertToInt), "a range is no range")
      val of = ends.map(_.intValue).grouped(2).flatMap { range =>
        val (from, end) = (range.head, range.last)
        check(0 <= from && from < end && end <= files.length, "a range is none of its files")
        files.slice(from, end)
      }
      KeptFilter(settings.get, conditions.map(_.textValue).toSet, of.toSet)
    }
  }

  private def file(folder: TableFolder, node: JsonNode): ReadFile = {
    def isLong(i: Int) = node.path(i).isIntegralNumber && node.path(i).canConvertToLong
    check(
      node.path(0).isTextual && isLong(1) && isLong(2) && node.path(3).isTextual,
      "a file has no name, length or time"
    )
    val name = node.path(0).textValue
    check(name.nonEmpty && !name.startsWith("/"), "a file is not below the table")
    ReadFile(folder.resolve(name), node.path(1).longValue, node.path(2).longValue, node.path(3).textValue)
  }

  private def check(holds: Boolean, why: => String): Unit =
    if (!holds) throw new IOException(s"not a memory file: $why")
}
