package org.sparkzorder.footer.traits

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

import org.sparkzorder.codec.Json
import org.sparkzorder.compat._

/**
 * The value of `pandas`: which columns are the index, and the types of all columns. Of a RangeIndex only the first and
 * the last label are stored, not a column. They would be wrong for rows in another order.
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

  /** The lost labels of the rows, in words; None when every reader gives the rows the same labels by itself. */
  def labels: Option[String] = elements(json.get("index_columns")).find { i =>
    isRange(i) && (i.path("start").asLong(0) != 0 || i.path("step").asLong(1) != 1 || i.path("name").isTextual)
  }.map(_ => "labels of a RangeIndex")

  private def columns: Map[String, JsonNode] = elements(ofOthers.get("columns")).map(c => nameOf(c) -> c).toMap
}

private[footer] object PandasMetadata {

  def parse(text: String): Option[PandasMetadata] =
    Json.parse(text).collect { case o: ObjectNode => new PandasMetadata(o) }

  /**
   * One value for all the files, and what it does not say of the columns, in words. None when the
   * files disagree on the index.
   *
   * Readers find the categories of a column in its dictionaries, in their order. fastparquet fails
   * where these differ. So the value says of no column that it has categories.
   */
  def merge(texts: Seq[String]): Option[(String, Seq[String])] = {
    val parsed = texts.flatMap(parse)
    if (parsed.size < texts.size || parsed.map(_.ofOthers.get("index_columns")).distinct.size > 1) None
    else {
      val columns = parsed.map(_.columns)
      val names = parsed.flatMap(p => elements(p.ofOthers.get("columns"))).map(nameOf).distinct
      val (categorical, others) = names.partition(n => columns.flatMap(_.get(n)).exists(isCategorical))
      val differ = others.filter(n => columns.flatMap(_.get(n)).distinct.size > 1)
      val merged = parsed.head.ofOthers.deepCopy()
      val array = merged.putArray("columns")
      names.foreach(n => array.add(columns.flatMap(_.get(n)).head))
      elements(array).filter(c => (differ ++ categorical).contains(nameOf(c))).foreach(forget)
      val lost = Option.when(differ.nonEmpty)(differ.map(quoteIdentifier).mkString("the files differ on ", ", ", ""))
      Some((merged.toString, parsed.flatMap(_.labels).take(1) ++ lost ++ lostCategories(categorical)))
    }
  }

  /** Of columns of categories; None if there are none. */
  def lostCategories(columns: Seq[String]): Option[String] = Option.when(columns.nonEmpty)(
    columns.map(quoteIdentifier).mkString("the order of the categories of ", ", ", ", and those without rows")
  )

  private def nameOf(column: JsonNode): String = column.path("field_name").asText(column.path("name").asText)

  private def isCategorical(column: JsonNode): Boolean = column.path("pandas_type").asText == "categorical"

  /** Says nothing of the column's type. pandas needs an entry for each column of an index. */
  private def forget(column: JsonNode): Unit = column match {
    case o: ObjectNode => o.put("pandas_type", "mixed").put("numpy_type", "object").putNull("metadata")
    case _             => ()
  }

  private def elements(array: JsonNode): Seq[JsonNode] = if (array == null) Nil else array.elements.asScala.toVector

  private def isRange(index: JsonNode): Boolean = index.path("kind").asText == "range"
}
