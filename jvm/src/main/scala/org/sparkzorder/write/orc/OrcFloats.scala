package org.sparkzorder.write.orc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.orc.{OrcConf, OrcUtils, TypeDescription}
import org.apache.orc.TypeDescription.Category

/**
 * Keeps readers from losing FLOAT and DOUBLE values of ORC files. In SQL -0.0 equals 0.0, but their bits differ, and
 * ORC's reader looks for the bits of one of them. So these columns get no Bloom filter, whatever the table and the
 * session say. The bounds of row groups hold for both, see [[OrcStatisticsWriter]].
 */
private[sparkzorder] object OrcFloats {

  /**
   * @param conf of a writer of ORC that Spark has prepared
   * @param schema of the file; None for Spark's own
   */
  def turnOffFilters(conf: Configuration, schema: Option[TypeDescription]): Unit = {
    val written = schema.getOrElse(TypeDescription.fromString(OrcConf.MAPRED_OUTPUT_SCHEMA.getString(conf)))
    val names = Option(conf.get(Filters)).toSeq.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
    // A name may stand for several columns: of a struct, or of the whole table.
    val left = names.filterNot { name =>
      val columns = OrcUtils.includeColumns(name, written)
      columns.indices.exists(id => columns(id) && Floats(written.findSubtype(id).getCategory))
    }
    if (left.isEmpty) conf.unset(Filters) else conf.set(Filters, left.mkString(","))
  }

  def areIn(t: TypeDescription): Boolean = has(t, Floats)

  /** Whether a type, or one inside of it, is in one of these categories. */
  def has(t: TypeDescription, some: Category => Boolean): Boolean =
    some(t.getCategory) || Option(t.getChildren).exists(_.asScala.exists(has(_, some)))

  private val Filters = OrcConf.BLOOM_FILTER_COLUMNS.getAttribute
  private val Floats = Set(Category.FLOAT, Category.DOUBLE)
}
