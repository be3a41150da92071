package org.sparkzorder.layout

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * A layout as the journal holds it: files of one layout need not be rewritten into it.
 *
 * @param curve zorder, hilbert or order
 * @param mapping range
 * @param cuts aligned or equal
 * @param columns paths of the key columns with their weights, the leading one first
 */
final case class LayoutSpec(curve: String, mapping: String, cuts: String, columns: Seq[(Seq[String], Double)]) {

  /** Canonical JSON: equal layouts give equal texts. */
  def json: String = {
    val node = LayoutSpec.mapper.createObjectNode()
    node.put("curve", curve).put("mapping", mapping).put("cuts", cuts)
    val list = node.putArray("columns")
    columns.foreach { case (path, weight) =>
      val column = list.addObject()
      val names = column.putArray("path")
      path.foreach(names.add)
      column.put("weight", weight)
    }
    LayoutSpec.mapper.writeValueAsString(node)
  }
}

object LayoutSpec {
  val ZOrder = "zorder"
  val Hilbert = "hilbert"

  /** Sorted by the first column, then by the next. */
  val Order = "order"

  val AlignedCuts = "aligned"
  val EqualCuts = "equal"

  private val mapper = new ObjectMapper()

  /** None when the text is not that of a layout: then nothing is known to be laid out so. */
  def parse(json: String): Option[LayoutSpec] =
    try {
      val node = mapper.readTree(json)
      val columns = node.path("columns").elements.asScala.map { c =>
        c.path("path").elements.asScala.map(_.asText).toSeq -> c.path("weight").asDouble(1.0)
      }.toSeq
      if (columns.isEmpty || columns.exists(_._1.isEmpty)) None
      else
        Some(
          LayoutSpec(
            node.path("curve").asText,
            node.path("mapping").asText,
            node.path("cuts").asText,
            columns
          )
        )
    } catch { case _: com.fasterxml.jackson.core.JsonProcessingException => None }
}
