package org.sparkzorder.optimize

import java.util.Locale

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded

import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.write.KeyColumn

/** The layout that an OPTIMIZE writes, with its key columns as the table has them. */
private[sparkzorder] final case class ChosenLayout(spec: LayoutSpec, keys: Seq[KeyColumn]) {

  def columns: IndexedSeq[ColumnKey] = ChosenLayout.columnsOf(keys)
}

private[sparkzorder] object ChosenLayout {

  def columnsOf(keys: Seq[KeyColumn]): IndexedSeq[ColumnKey] =
    keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq

  /** A layout as the clause of a statement. */
  def sql(spec: LayoutSpec): String = {
    val columns = spec.columns.map { case (path, w) =>
      name(path) + (if (w == 1) "" else s" WEIGHT ${number(w)}")
    }
    s"${spec.curve.toUpperCase(Locale.ROOT)} BY ${columns.mkString("(", ", ", ")")}"
  }

  /** A column as it is written in SQL. */
  def name(path: Seq[String]): String = path.map(quoteIfNeeded).mkString(".")

  private def number(w: Double): String = if (w == math.rint(w)) w.toLong.toString else w.toString
}
