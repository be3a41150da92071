package org.sparkzorder.memory.keep

import java.io.IOException

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ArrayNode
import org.roaringbitmap.RoaringBitmap

import org.sparkzorder.codec.{Checksum, Json}
import org.sparkzorder.commit.TableFolder
import org.sparkzorder.memory.{KeptFilter, KeptFilters, ReadFile}

/**
 * Kept filters as JSON: lists of files with numbers, and for each filter the numbers of its files, as ranges. Everything
 * that is read is checked.
 */
private[memory] object KeptJson {

  /** Another one is needed also when a mistake in learning is mended: what was learned by it must not be read any more. */
  private val Version = 2

  private val MostConditions = 1000
  private val MostNumber = 1 << 22

  /** A list of files takes at most this share, so that there is room for filters. */
  private val ShareOfNames = 0.75

  /**
   * At most `most` bytes. Files that find no room are left out, and filters that find none, first those with the fewest
   * files.
   */
  def write(folder: TableFolder, found: Seq[KeptFilters], most: Int): Array[Byte] = {
    val root = Json.newObject()
    root.put("version", Version)
    val lists = Json.newArray()
    var left = most - 1000
    found.foreach { list =>
      val node = Json.newObject()
      val (files, filters) = (node.putArray("files"), node.putArray("filters"))
      val named = new RoaringBitmap
      var names = (left * ShareOfNames).toInt
      val asked = RoaringBitmap.or(list.filters.map(_.files): _*)
      for ((number, f) <- list.files.toVector.sortBy(-_._1) if number < MostNumber && asked.contains(number)) {
        folder.relative(f.path).map(name => entry(number, name, f)).filter(Json.bytes(_).length < names).foreach { e =>
          files.add(e)
          named.add(number)
          val bytes = Json.bytes(e).length + 1
          names -= bytes
          left -= bytes
        }
      }
      list.filters.sortBy(f => (-f.files.getCardinality, f.conditions.min)).foreach { f =>
        val known = RoaringBitmap.and(f.files, named)
        if (!known.isEmpty && f.conditions.size <= MostConditions) {
          val e = entry(f, known)
          val bytes = Json.bytes(e).length + 1
          if (bytes < left) {
            filters.add(e)
            left -= bytes
          }
        }
      }
      if (!filters.isEmpty) lists.add(node)
    }
    root.put("crc", Checksum.crc32(Json.bytes(lists)))
    root.set[JsonNode]("lists", lists)
    Json.bytes(root)
  }

  private def entry(number: Int, name: String, f: ReadFile): ArrayNode =
    Json.newArray().add(number).add(name).add(f.length).add(f.time).add(f.values)

  private def entry(f: KeptFilter, files: RoaringBitmap): JsonNode = {
    val node = Json.newObject()
    node.put("settings", f.settings)
    Json.addAll(node.putArray("columns"), f.columns.toVector.sorted)
    Json.addAll(node.putArray("conditions"), f.conditions.toVector.sorted)
    val ranges = node.putArray("files")
    var from = files.nextValue(0)
    while (from >= 0) {
      val end = files.nextAbsentValue(from.toInt)
      ranges.add(from).add(end)
      from = files.nextValue(end.toInt)
    }
    node
  }

  /** @throws java.io.IOException when the bytes are not of this form */
  def read(folder: TableFolder)(bytes: Array[Byte]): Seq[KeptFilters] = {
    val root = Json.read(bytes)
    check(Json.long(root, "version").contains(Version.toLong), "its version is unknown")
    check(Json.long(root, "crc").contains(Checksum.crc32(Json.bytes(root.path("lists")))), "its checksum is wrong")
    Json.elements(root.path("lists")).map { list =>
      val files = Json.elements(list.path("files")).map(file(folder, _)).toMap
      val all = RoaringBitmap.bitmapOf(files.keysIterator.toArray: _*)
      KeptFilters(files, Json.elements(list.path("filters")).map(filter(_, all)))
    }
  }

  private def file(folder: TableFolder, node: JsonNode): (Int, ReadFile) = {
    def isLong(i: Int) = node.path(i).isIntegralNumber && node.path(i).canConvertToLong
    val number = Json.long(node, 0).filter(n => 0 <= n && n < MostNumber)
    check(number.isDefined, "a file has no number")
    check(
      node.path(1).isTextual && isLong(2) && isLong(3) && node.path(4).isTextual,
      "a file has no name, length or time"
    )
    val name = node.path(1).textValue
    check(name.nonEmpty && !name.startsWith("/"), "a file is not below the table")
    number.get.toInt -> ReadFile(
      folder.resolve(name),
      node.path(2).longValue,
      node.path(3).longValue,
      node.path(4).textValue
    )
  }

  private def filter(node: JsonNode, all: RoaringBitmap): KeptFilter = {
    val (columns, conditions) = (Json.elements(node.path("columns")), Json.elements(node.path("conditions")))
    check(conditions.nonEmpty && conditions.length <= MostConditions, "a filter has no conditions, or too many")
    val settings = Json.text(node, "settings")
    check(settings.isDefined && (columns ++ conditions).forall(_.isTextual), "a filter has no settings, or no texts")
    val ends = Json.elements(node.path("files"))
    check(ends.length % 2 == 0 && ends.forall(e => e.isIntegralNumber && e.canConvertToInt), "a range is no range")
    val files = new RoaringBitmap
    ends.map(_.longValue).grouped(2).foreach { range =>
      check(0 <= range.head && range.head < range.last && range.last <= MostNumber, "a range is none of files")
      files.add(range.head, range.last)
    }
    files.and(all)
    KeptFilter(settings.get, columns.map(_.textValue).toSet, conditions.map(_.textValue).toSet, files)
  }

  private def check(holds: Boolean, why: => String): Unit =
    if (!holds) throw new IOException(s"not a memory file: $why")
}
