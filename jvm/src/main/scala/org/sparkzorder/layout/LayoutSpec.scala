package org.sparkzorder.layout

import org.sparkzorder.codec.Json
import org.sparkzorder.compat._

/**
 * A layout as the journal stores it. Files that have this layout need not be rewritten to get it.
 *
 * @param curve zorder, hilbert or order
 * @param mapping range or bytes
 * @param cuts aligned or equal
 * @param columns paths of the key columns with their weights, the leading one first
 * @param bytes the settings of the bytes mapping
 * @param queryShare from 0 to 1: the share of the curve that is given to values by how often queries ask for them
 * @param joins the dimensions that have some of the columns, see [[JoinSpec.attribute]]
 */
final case class LayoutSpec(
    curve: String,
    mapping: String,
    cuts: String,
    columns: Seq[(Seq[String], Double)],
    bytes: Option[BytesMapping] = None,
    queryShare: Double = 0,
    joins: Seq[JoinSpec] = Nil
) {

  /** The layout as JSON. Equal layouts give equal texts. */
  def json: String = {
    val keys = columns.map { case (path, weight) => LayoutSpec.ColumnText(path, Some(weight)) }
    val (length, size) = (bytes.map(b => Int.box(b.varLengthContribution)), bytes.map(b => Int.box(b.maxOutputSize)))
    val share = Some(Double.box(queryShare)).filter(_ > 0)
    Json.text(LayoutSpec.Text(curve, mapping, cuts, length, size, share, keys, Some(joins).filter(_.nonEmpty)))
  }
}

object LayoutSpec {
  val ZOrder = "zorder"
  val Hilbert = "hilbert"

  /** Sorted by the first column, then by the next. */
  val Order = "order"

  /** The most key columns: of the 62 bits of the curve, each column still has at least seven. */
  val MostColumns = 8

  /** The most files of a layout, or partitions of a query. */
  val MostFiles = 1000000

  val RangeMapping = "range"
  val BytesMapping = "bytes"

  val AlignedCuts = "aligned"
  val EqualCuts = "equal"

  private final case class Text(
      curve: String,
      mapping: String,
      cuts: String,
      varLengthContribution: Option[Integer],
      maxOutputSize: Option[Integer],
      queryShare: Option[java.lang.Double],
      columns: Seq[ColumnText],
      joins: Option[Seq[JoinSpec]]
  )

  private final case class ColumnText(path: Seq[String], weight: Option[java.lang.Double])

  /** None when the text is not that of a layout. Then no file counts as laid out. */
  def parse(json: String): Option[LayoutSpec] = Json.parse(json, classOf[Text]).flatMap { text =>
    val columns = text.columns.map(c => c.path -> c.weight.fold(1d)(_.doubleValue))
    val sizes = text.varLengthContribution.toSeq ++ text.maxOutputSize
    val isBytes = text.mapping == BytesMapping
    val joins = text.joins.toSeq.flatten
    val lacks = columns.isEmpty || columns.exists(_._1.isEmpty) || joins.exists(j =>
      Seq(j.dimension, j.column, j.key).exists(_.isEmpty)
    )
    if (lacks || isBytes && (sizes.length < 2 || sizes.exists(_ < 1))) None
    else {
      val bytes = Option.when(isBytes)(new BytesMapping(sizes.head, sizes.last))
      val share = math.max(0d, math.min(0.99, text.queryShare.fold(0d)(_.doubleValue)))
      Some(LayoutSpec(text.curve, text.mapping, text.cuts, columns, bytes, share, joins))
    }
  }
}

/**
 * The bytes mapping: rows are sorted by the bits of their columns' ordered bytes in turns, whatever the distribution of
 * the values. Options and widths are those of Apache Iceberg's `zorder`. A value of fixed width has 8 bytes, whatever
 * its type, so that bits of equal magnitude meet when the types differ. A decimal of more than 18 digits has 16 bytes.
 *
 * @param varLengthContribution bytes of a string or binary value: longer ones are cut, shorter ones are padded with
 *   zeros
 * @param maxOutputSize the most bytes of the whole key; longer keys are cut
 */
final case class BytesMapping(varLengthContribution: Int, maxOutputSize: Int) {
  require(
    varLengthContribution >= 1 && maxOutputSize >= 1,
    s"$varLengthContribution and $maxOutputSize must be positive"
  )
}

object BytesMapping {
  val Default: BytesMapping = BytesMapping(8, Int.MaxValue)
}

/**
 * How the rows of a unit are ordered and cut, without the columns.
 *
 * @param curve one of the curves of [[LayoutSpec]]
 * @param aligned whether files end where the curve leaves a cell; else files have equal sizes
 * @param exact whether there are exactly as many files as asked for; else cells may give a few more or fewer
 */
final case class LayoutShape(curve: String, aligned: Boolean, exact: Boolean = false) {
  require(Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order).contains(curve), s"no curve '$curve'")

  /** Whether rows of a file are sorted by the columns themselves. This is so for any curve over a single column. */
  def isSort(columns: Int): Boolean = columns == 1 || curve == LayoutSpec.Order

  /**
   * @param weights one for each column, positive and finite
   * @param distributions one for each column
   * @param files about how many files the unit is cut into
   */
  def curveOf(weights: Seq[Double], distributions: Seq[ValueDistribution], files: Int): Curve = curve match {
    case LayoutSpec.Order   => BitShares.lexicographic(distributions)
    case LayoutSpec.Hilbert =>
      // Two bits more than the number of files needs, since cuts are chosen that finely.
      HilbertCurve.of(BitShares.plan(weights, distributions), 34 - Integer.numberOfLeadingZeros(files - 1))
    case _ => BitShares.plan(weights, distributions)
  }

  /**
   * @param keys keys of sampled rows, ascending
   * @param by the curve of these keys
   */
  def cutsOf(keys: IndexedSeq[(Long, Long)], files: Int, by: Curve): Cuts =
    if (!aligned) Cuts.equal(keys, files)
    else if (exact) ExactCuts.of(keys, files, coarseness(by))
    else AlignedCuts.of(keys, files, coarseness(by))

  /**
   * How coarse the border between two values of the curve is, by their highest differing bit. A
   * larger number is coarser. In a sort all borders between values of one column are equally
   * coarse, and those of the first column are the coarsest.
   */
  def coarseness(by: Curve): Long => Long = by match {
    case plan: BitPlan if isSort(plan.columns) =>
      val owners = plan.sequence.reverse
      bit => -owners(java.lang.Long.numberOfTrailingZeros(bit)).toLong
    case _ => identity
  }
}

object LayoutShape {

  /** The shape of packing: rows stay in the order in which they arrive, and files have equal sizes. */
  val Packed: LayoutShape = LayoutShape(LayoutSpec.Order, aligned = false)

  def of(spec: LayoutSpec): LayoutShape = LayoutShape(spec.curve, spec.cuts == LayoutSpec.AlignedCuts)
}
