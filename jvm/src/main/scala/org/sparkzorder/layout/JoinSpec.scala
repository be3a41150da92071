package org.sparkzorder.layout

/**
 * A dimension by whose attributes a layout places the rows of a table. The attributes are not written.
 *
 * @param dimension the parts of its name
 * @param column path of the table's column
 * @param key path of the dimension's column that is equal to it
 */
final case class JoinSpec(dimension: Seq[String], column: Seq[String], key: Seq[String]) {

  /** How attributes are told apart from those of other dimensions. */
  def name: String = dimension.last

  /**
   * The path of an attribute in a layout. It begins with a mark, which is no name that people give to columns, and the
   * path of the column that is joined.
   */
  def attribute(path: Seq[String]): Seq[String] = column.mkString(JoinSpec.Mark, JoinSpec.Mark, "") +: name +: path

  /** Whether a path of a layout is that of one of these attributes. */
  def has(path: Seq[String]): Boolean = JoinSpec.isAttribute(path) && attribute(path.drop(JoinSpec.Before)) == path
}

object JoinSpec {
  private val Mark = "\u0000"

  /** How many parts of the path of an attribute come before those of the dimension's column. */
  val Before = 2

  /** Whether a path of a layout is that of an attribute. Files do not have it. */
  def isAttribute(path: Seq[String]): Boolean = path.length > Before && path.head.startsWith(Mark)

  /** The table's column that decides what a path of a layout is: for an attribute, the one that is joined. */
  def columnOf(path: Seq[String]): Seq[String] =
    if (isAttribute(path)) path.head.split(Mark, -1).toSeq.tail else path

  /** A path of a layout as people write it: an attribute comes behind its dimension. */
  def shown(path: Seq[String]): Seq[String] = if (isAttribute(path)) path.tail else path
}
