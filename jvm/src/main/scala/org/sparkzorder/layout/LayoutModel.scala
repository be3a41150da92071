package org.sparkzorder.layout

/**
 * How the rows of one rewrite unit are assigned to files. Each column contributes a part to a row's value of the curve.
 * The parts of all places of a distribution are computed once, so that a row costs one search in each column.
 *
 * @param distributions of the columns that the curve runs over
 * @param keys distributions of the key columns in the data, which may differ from these; for the driver only
 * @param drift of new rows from boundaries that the table already has; None without such boundaries
 * @param placement defined if rows are placed by boundaries that the table already has
 */
final class UnitLayout(
    val distributions: IndexedSeq[ValueDistribution],
    val curve: Curve,
    val cuts: Cuts,
    @transient val keys: IndexedSeq[ValueDistribution],
    @transient val drift: Option[DistributionDrift],
    @transient val placement: Option[Placement]
) extends Serializable {

  def this(distributions: IndexedSeq[ValueDistribution], curve: Curve, cuts: Cuts) =
    this(distributions, curve, cuts, distributions, None, None)

  require(curve.columns == distributions.length, s"a curve of ${curve.columns} columns for ${distributions.length}")

  @transient private lazy val parts: Array[Array[Long]] = Array.tabulate(distributions.length) { c =>
    val bits = curve.bits(c)
    Array.tabulate(distributions(c).places)(p => curve.spread(c, distributions(c).id(p, bits)))
  }

  @transient private lazy val longs: Array[LongDistribution] =
    distributions.map { case d: LongDistribution => d; case _ => null }.toArray

  @transient private lazy val bytes: Array[BytesDistribution] =
    distributions.map { case d: BytesDistribution => d; case _ => null }.toArray

  /** The part of column c for a value with the encoding `Longs`. */
  def part(c: Int, v: Long): Long = parts(c)(longs(c).place(v))

  /** The part of column c for a value with the encoding `Bytes`. */
  def part(c: Int, v: Array[Byte]): Long = parts(c)(bytes(c).place(v))

  /** The part of column c for null. */
  def partOfNull(c: Int): Long = parts(c)(0)

  /** The value of the curve for the ORed parts of all columns. */
  def value(parts: Long): Long = curve.value(parts)

  /** The place of each of a row's encoded values in the distribution of its column. */
  def places(encoded: Seq[Any]): IndexedSeq[Int] = encoded.zipWithIndex.map {
    case (null, _)           => 0
    case (v: Long, c)        => longs(c).place(v)
    case (v: Array[Byte], c) => bytes(c).place(v)
    case (v, c) => throw new IllegalArgumentException(s"not an encoded value in column $c: ${v.getClass.getName}")
  }.toIndexedSeq

  /**
   * The value of the curve for a row's encoded values: a `java.lang.Long`, an `Array[Byte]` or null for each column.
   */
  def z(encoded: Seq[Any]): Long =
    value(places(encoded).zipWithIndex.foldLeft(0L) { case (z, (place, c)) => z | parts(c)(place) })
}

/**
 * The layouts of all units of a job. Slots number the output files of all units, one unit after the
 * other, and inside of a unit along the curve.
 *
 * @param units one for each rewrite unit
 * @param unitOfFile the unit that each input file belongs to
 */
final class LayoutModel(val units: Array[UnitLayout], val unitOfFile: Array[Int]) extends Serializable {

  /** The first slot of each unit, and in the end the number of slots. */
  val slotOffsets: Array[Int] = units.scanLeft(0)((sum, unit) => Math.addExact(sum, unit.cuts.slots))

  def slots: Int = slotOffsets(units.length)

  def ofFile(file: Int): UnitLayout = units(unitOfFile(file))

  /** The slot of a row of an input file, from 0 until `slots`. */
  def slot(file: Int, z: Long, tie: Long): Int = {
    val unit = unitOfFile(file)
    slotOffsets(unit) + units(unit).cuts.slot(z, tie)
  }

  /** The unit that a slot belongs to. Every unit has at least one slot, so the offsets strictly increase. */
  def unitOfSlot(slot: Int): Int = {
    require(slot >= 0 && slot < slots, s"slot $slot is not in 0 until $slots")
    val found = java.util.Arrays.binarySearch(slotOffsets, slot)
    if (found >= 0) found else -found - 2
  }
}
