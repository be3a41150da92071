package org.sparkzorder.footer

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/**
 * The value of `pandas`: which columns are the index, and the types of all columns. A RangeIndex is not stored as a column
 * but by its first and last label, which would be wrong of rows in another order.
 */
private[footer] final class PandasMetadata(json: ObjectNode) {
  import PandasMetadata._

  /** The value for files with some of the rows of this one, and perhaps rows of others. */
  val ofOthers: ObjectNode = {
    val copy = json.deepCopy()
    copy.putArray("index_columns").addAll(elements(json.get("index_columns")).filterNot(isRange).asJava)
    // How many categories one file had.
    elements(copy.get("columns")).map(_.get("metadata")).foreach {
      case o: ObjectNode => o.remove("num_categories")
      case _             => ()
    }
    copy
  }

  /** The same for all files that were written alike. */
  def comparable: String = {
    val copy = ofOthers.deepCopy()
    Seq("pandas_version", "creator").foreach(k => copy.remove(k))
    copy.toString
  }

  /** What is lost of the labels of the rows, in words; None when every reader gives the rows such labels by itself. */
  def labels: Option[String] = elements(json.get("index_columns")).find { i =>
    isRange(i) && (i.path("start").asLong(0) != 0 || i.path("step").asLong(1) != 1 || i.path("name").isTextual)
  }.map(_ => "labels of a RangeIndex")

  private def columns: Map[String, JsonNode] =
    elements(ofOthers.get("columns")).map(c => c.path("field_name").asText(c.path("name").asText) -> c).toMap
}

private[footer] object PandasMetadata {

  def parse(text: String): Option[PandasMetadata] =
    try
      new ObjectMapper().readTree(text) match {
        case o: ObjectNode => Some(new PandasMetadata(o))
        case _             => None
      }
    catch { case _: JsonProcessingException => None }

  /**
   * One value for all the files, with the columns that the files disagree on: of these it says nothing. None when the files
   * disagree on what the index is.
   */
  def merge(texts: Seq[String]): Option[(String, Seq[String])] = {
    val parsed = texts.flatMap(parse)
    if (parsed.size < texts.size || parsed.map(_.ofOthers.get("index_columns")).distinct.size > 1) None
    else {
      val columns = parsed.map(_.columns)
      val names = parsed.flatMap(p => elements(p.ofOthers.get("columns"))).map(c =>
        c.path("field_name").asText(c.path("name").asText)
      ).distinct
      val disputed = names.filter(n => columns.flatMap(_.get(n)).distinct.size > 1)
      val merged = parsed.head.ofOthers.deepCopy()
      val array = merged.putArray("columns")
      names.filterNot(disputed.toSet).foreach(n => array.add(columns.flatMap(_.get(n)).head))
      Some((merged.toString, disputed))
    }
  }

  private def elements(array: JsonNode): Seq[JsonNode] = if (array == null) Nil else array.elements.asScala.toSeq

  private def isRange(index: JsonNode): Boolean = index.path("kind").asText == "range"
}
