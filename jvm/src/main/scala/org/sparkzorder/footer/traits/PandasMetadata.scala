package org.sparkzorder.footer.traits

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.sparkzorder.codec.Json

/**
 * The value of `pandas`: which columns are the index, and the types of all columns. Of a RangeIndex
 * only the first and the last label are stored, not a column. They would be wrong for rows in
 * another order.
 */
private[footer] final class PandasMetadata(json: ObjectNode) {
  import PandasMetadata._

  /** The value for files that have some of this file's rows, and perhaps rows of others. */
  val ofOthers: ObjectNode = {
    val copy = json.deepCopy()
    copy.putArray("index_columns").addAll(elements(json.get("index_columns")).filterNot(isRange).asJava)
    // The number of categories describes one file only.
    elements(copy.get("columns")).map(_.get("metadata")).foreach {
      case o: ObjectNode => o.remove("num_categories")
      case _             => ()
    }
    copy
  }

  /** The same text for all files that were written alike. */
  def comparable: String = {
    val copy = ofOthers.deepCopy()
    Seq("pandas_version", "creator").foreach(k => copy.remove(k))
    copy.toString
  }

  /**
   * The lost labels of the rows, in words; None when every reader gives the rows the same labels by
   * itself.
   */
  def labels: Option[String] = elements(json.get("index_columns")).find { i =>
    isRange(i) && (i.path("start").asLong(0) != 0 || i.path("step").asLong(1) != 1 || i.path("name").isTextual)
  }.map(_ => "labels of a RangeIndex")

  private def columns: Map[String, JsonNode] =
    elements(ofOthers.get("columns")).map(c => c.path("field_name").asText(c.path("name").asText) -> c).toMap
}

private[footer] object PandasMetadata {

  def parse(text: String): Option[PandasMetadata] =
    Json.parse(text).collect { case o: ObjectNode => new PandasMetadata(o) }

  /**
   * One value for all the files, and the columns that it leaves out because the files disagree on
   * them. None when the files disagree on the index.
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

  private def elements(array: JsonNode): Seq[JsonNode] = if (array == null) Nil else array.elements.asScala.toVector

  private def isRange(index: JsonNode): Boolean = index.path("kind").asText == "range"
}
