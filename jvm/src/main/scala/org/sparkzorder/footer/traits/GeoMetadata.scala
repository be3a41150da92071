package org.sparkzorder.footer.traits

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.sparkzorder.codec.Json

/**
 * The value of `geo` (GeoParquet). Box and kinds of geometries describe the rows of one file. The
 * union over all files is true for every new file, though its box may be larger than needed.
 */
private[footer] final class GeoMetadata(json: ObjectNode) {
  import GeoMetadata._

  private def columns: Seq[(String, ObjectNode)] = Option(json.get("columns")).toSeq.flatMap(_.properties.asScala)
    .map(e => e.getKey -> e.getValue).collect { case (name, o: ObjectNode) => name -> o }

  /** The same text for all files that were written alike. */
  def comparable: String = {
    val copy = new GeoMetadata(json.deepCopy())
    copy.columns.foreach { case (_, c) => Extent.foreach(k => c.remove(k)) }
    copy.text
  }

  /** The boxes and kinds alone. */
  def extent: String = {
    val all = Json.newObject()
    columns.foreach { case (name, c) =>
      val own = all.putObject(name)
      Extent.foreach(k => Option(c.get(k)).foreach(own.set[JsonNode](k, _)))
    }
    Json.text(all)
  }

  /** The value with the extents of these files. */
  def covering(extents: Seq[String]): String = {
    val parsed = extents.map(Json.read(_))
    val copy = new GeoMetadata(json.deepCopy())
    copy.columns.foreach { case (name, c) =>
      val own = parsed.map(_.path(name))
      val boxes = own.map(_.get("bbox")).map(b => if (b == null) None else boxOf(b))
      united(boxes) match {
        case Some(box) =>
          val array = c.putArray("bbox")
          box.foreach(v => array.add(v))
        case None => c.remove("bbox")
      }
      // By the specification, an empty list says that the kinds are not known.
      val kinds = own.map(o => Option(o.get("geometry_types")).toSeq.flatMap(_.elements.asScala).map(_.asText))
      val array = c.putArray("geometry_types")
      if (!kinds.exists(_.isEmpty)) kinds.flatten.distinct.sorted.foreach(k => array.add(k))
    }
    copy.text
  }

  private def text: String = Json.text(json)
}

private[footer] object GeoMetadata {

  private val Extent = Seq("bbox", "geometry_types")

  def parse(text: String): Option[GeoMetadata] =
    Json.parse(text).collect { case o: ObjectNode => new GeoMetadata(o) }

  private def boxOf(node: JsonNode): Option[Seq[Double]] = {
    val numbers = node.elements.asScala.toVector
    if (Set(4, 6)(numbers.size) && numbers.forall(_.isNumber)) Some(numbers.map(_.asDouble)) else None
  }

  /**
   * The box around all boxes, lower corner first. None if a file has no box, or one that crosses
   * the antimeridian: its western edge is a greater number than its eastern one, so that minimum
   * and maximum do not unite it.
   */
  private def united(boxes: Seq[Option[Seq[Double]]]): Option[Seq[Double]] = {
    val all = boxes.flatten
    if (all.isEmpty || all.size < boxes.size || all.map(_.size).distinct.size > 1) None
    else {
      val half = all.head.size / 2
      if (all.exists(b => b(0) > b(half))) None
      else Some((0 until half).map(i => all.map(_(i)).min) ++ (half until 2 * half).map(i => all.map(_(i)).max))
    }
  }
}
