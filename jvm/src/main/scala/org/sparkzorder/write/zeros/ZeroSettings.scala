package org.sparkzorder.write.zeros

import org.apache.hadoop.conf.Configuration
import org.apache.orc.OrcConf
import org.apache.parquet.hadoop.ParquetOutputFormat.{
  BLOOM_FILTER_ENABLED,
  BLOOM_FILTER_EXPECTED_NDV,
  ENABLE_DICTIONARY
}
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.spark.sql.types._

import org.sparkzorder.write.preserve.{KeptParquet, KeptSchema, ListShape}

/**
 * Settings for the writer of a file with zeros, so that readers find its rows when they look for a
 * zero of the other sign. See [[NegativeZeros]].
 */
private[write] sealed trait ZeroSettings extends Serializable {
  def put(conf: Configuration, found: ZerosFound): Unit
}

/**
 * Columns with -0.0 get neither a dictionary nor a Bloom filter. Columns with 0.0 get one only if all
 * old files have it: a query for -0.0 found its rows where there was none. Readers take the bounds of
 * Parquet as those of numbers, so these stay.
 *
 * @param leaves the name of each leaf for Parquet's settings; None when they cannot name it
 * @param others the names of all columns that settings can name
 * @param dictionaries the names of columns that are wholly in dictionaries in all old files
 * @param bloomFilters the names of columns that have a Bloom filter in all old files
 */
private[write] final case class ParquetZeros(
    leaves: IndexedSeq[Option[String]],
    others: Seq[String],
    dictionaries: Set[String],
    bloomFilters: Set[String]
) extends ZeroSettings {

  override def put(conf: Configuration, found: ZerosFound): Unit = {
    def without(had: Set[String]) = leaves.indices
      .filter(i => found.negative(i) || found.any(i) && !leaves(i).exists(had)).map(leaves)
    val plain = without(dictionaries)
    if (plain.contains(None)) turnOffByDefault(conf, ENABLE_DICTIONARY, before = true)
    plain.flatten.foreach(leaf => conf.setBoolean(s"$ENABLE_DICTIONARY#$leaf", false))
    val bare = without(bloomFilters)
    if (bare.contains(None)) turnOffByDefault(conf, BLOOM_FILTER_ENABLED, before = false)
    bare.flatten.foreach { leaf =>
      conf.setBoolean(s"$BLOOM_FILTER_ENABLED#$leaf", false)
      // To Parquet's writer an expected number of values means that there is to be a filter.
      conf.unset(s"$BLOOM_FILTER_EXPECTED_NDV#$leaf")
    }
  }

  /** All columns that settings can name stay as they are. */
  private def turnOffByDefault(conf: Configuration, key: String, before: Boolean): Unit = {
    val usual = conf.getBoolean(key, before)
    others.map(leaf => s"$key#$leaf").filter(conf.get(_) == null).foreach(conf.setBoolean(_, usual))
    conf.setBoolean(key, false)
  }
}

/**
 * A column with a zero of any sign gets no Bloom filter: ORC's reader looks for the bits of the other.
 * The bounds hold for both, see [[org.sparkzorder.write.orc.OrcStatisticsWriter]]. Encrypted columns
 * are written by ORC alone, so a file that has them, and -0.0 in a column that filters can name, gets
 * no row index.
 *
 * @param names of all leaves, for ORC's setting; None when it cannot name one
 */
private[write] final case class OrcZeros(leaves: IndexedSeq[FloatLeaf], names: IndexedSeq[Option[String]])
    extends ZeroSettings {
  import OrcZeros._

  override def put(conf: Configuration, found: ZerosFound): Unit = {
    def named(zeros: Int => Boolean) = leaves.indices.filter(i => zeros(i) && leaves(i).inStructs)
    val bare = named(i => found.negative(i) || found.any(i)).map(names)
    if (bare.nonEmpty) {
      val filters = Option(conf.get(Filters)).toSeq.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
      def has(name: String) = bare.flatten.exists(_.equalsIgnoreCase(name))
      val left = if (bare.contains(None)) Nil else filters.filterNot(has)
      if (left.isEmpty) conf.unset(Filters) else conf.set(Filters, left.mkString(","))
      val isEncrypted = Option(OrcConf.ENCRYPTION.getString(conf)).exists(_.nonEmpty)
      if (isEncrypted && named(found.negative).nonEmpty) OrcConf.ROW_INDEX_STRIDE.setInt(conf, 0)
    }
  }
}

private[write] object OrcZeros {
  private val Filters = OrcConf.BLOOM_FILTER_COLUMNS.getAttribute

  def of(schema: StructType): OrcZeros = OrcZeros(FloatLeaf.of(schema), namesOf(schema, Vector.empty))

  private def namesOf(dataType: DataType, path: Vector[String]): IndexedSeq[Option[String]] = dataType match {
    case FloatType | DoubleType => IndexedSeq(Some(path.mkString(".")).filterNot(_ => path.exists(_.contains("."))))
    case s: StructType          => s.fields.toIndexedSeq.flatMap(f => namesOf(f.dataType, path :+ f.name))
    case u: UserDefinedType[_]  => namesOf(u.sqlType, path)
    case other                  => FloatLeaf.of(other).map(_ => None)
  }
}

private[write] object ZeroSettings {

  /** @param kept None when nothing is known of the old files */
  def parquet(schema: StructType, file: MessageType, kept: Option[KeptParquet]): ParquetZeros =
    ParquetZeros(
      of(schema, file, Vector.empty).map(_.flatMap(nameOf)),
      KeptSchema.leafPaths(file).flatMap(nameOf),
      kept.fold(Set.empty[String])(_.dictionaries.flatMap(nameOf)),
      kept.fold(Set.empty[String])(_.bloomFilters.flatMap(nameOf))
    )

  /**
   * The writer takes a column as its path with dots between the names, and Hadoop cuts off spaces at
   * the ends of a setting's key.
   */
  private def nameOf(path: Seq[String]): Option[String] =
    Some(path.mkString(".")).filter(name => name == name.trim && !path.exists(_.contains(".")))

  /** The paths in the file of the leaves of [[FloatLeaf.of]]; None for what the file has otherwise. */
  private def of(dataType: DataType, stored: Type, path: Vector[String]): IndexedSeq[Option[Seq[String]]] =
    (dataType, stored) match {
      case (FloatType | DoubleType, leaf) if leaf.isPrimitive           => IndexedSeq(Some(path))
      case (u: UserDefinedType[_], _)                                   => of(u.sqlType, stored, path)
      case (s: StructType, g: GroupType) if g.getFieldCount == s.length =>
        s.indices.flatMap(i => of(s(i).dataType, g.getType(i), path :+ g.getType(i).getName))
      case (ArrayType(of, _), list) if ListShape.of(list).isDefined => elements(of, list, path)
      case (MapType(key, value, _), IsMap(pair))                    =>
        val inside = path :+ pair.getName
        def part(t: DataType, i: Int) = of(t, pair.getType(i), inside :+ pair.getType(i).getName)
        part(key, 0) ++ part(value, 1)
      case _ => FloatLeaf.of(dataType).map(_ => None)
    }

  private def elements(of: DataType, list: Type, path: Vector[String]): IndexedSeq[Option[Seq[String]]] = {
    val (shape, element) = ListShape.of(list).get
    val inside = shape match {
      case ListShape.Bare        => path
      case ListShape.TwoLevels   => path :+ element.getName
      case ListShape.ThreeLevels => path :+ list.asGroupType.getType(0).getName :+ element.getName
    }
    ZeroSettings.of(of, element, inside)
  }

  private object IsMap {
    def unapply(t: Type): Option[GroupType] = t match {
      case g: GroupType if g.getFieldCount == 1 =>
        g.getType(0) match {
          case pair: GroupType if pair.getFieldCount == 2 => Some(pair)
          case _                                          => None
        }
      case _ => None
    }
  }
}
