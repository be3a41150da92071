package org.sparkzorder.write

import org.apache.hadoop.conf.Configuration
import org.apache.orc.OrcConf
import org.apache.parquet.hadoop.ParquetOutputFormat.{
  BLOOM_FILTER_ENABLED,
  BLOOM_FILTER_EXPECTED_NDV,
  ENABLE_DICTIONARY
}
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.types._

/**
 * Settings for the writer of a file with -0.0, so that readers find its rows when they look for 0.0.
 * See [[NegativeZeros]].
 */
private[write] sealed trait ZeroSettings extends Serializable {

  /** @param found whether the file's rows have -0.0 in each leaf, in the order of [[FloatLeaf.of]] */
  def put(conf: Configuration, found: IndexedSeq[Boolean]): Unit

  /** Called with each new writer before its first row. */
  def begin(writer: OutputWriter): Unit
}

/**
 * Columns with -0.0 get neither a dictionary nor a Bloom filter. Readers take the bounds of Parquet
 * as those of numbers, so these stay.
 *
 * @param leaves the name of each leaf for Parquet's settings; None when they cannot name it
 * @param others the names of all columns that settings can name
 */
private[write] final case class ParquetZeros(leaves: IndexedSeq[Option[String]], others: Seq[String])
    extends ZeroSettings {

  override def put(conf: Configuration, found: IndexedSeq[Boolean]): Unit = {
    val zeros = leaves.zip(found).collect { case (leaf, true) => leaf }
    if (zeros.contains(None)) {
      turnOffByDefault(conf, ENABLE_DICTIONARY, before = true)
      turnOffByDefault(conf, BLOOM_FILTER_ENABLED, before = false)
    }
    zeros.flatten.foreach { leaf =>
      conf.setBoolean(s"$ENABLE_DICTIONARY#$leaf", false)
      conf.setBoolean(s"$BLOOM_FILTER_ENABLED#$leaf", false)
      // To Parquet's writer an expected number of values means that there is to be a filter.
      conf.unset(s"$BLOOM_FILTER_EXPECTED_NDV#$leaf")
    }
  }

  override def begin(writer: OutputWriter): Unit = OwnEncodings.use(writer)

  /** All columns that settings can name stay as they are. */
  private def turnOffByDefault(conf: Configuration, key: String, before: Boolean): Unit = {
    val usual = conf.getBoolean(key, before)
    others.map(leaf => s"$key#$leaf").filter(conf.get(_) == null).foreach(conf.setBoolean(_, usual))
    conf.setBoolean(key, false)
  }
}

/**
 * ORC's reader compares 0.0 with the bounds of groups of rows by their bits, too, so 0.0 is above a
 * maximum of -0.0. A file that has -0.0 in a column that filters can name gets no row index. Bloom
 * filters are part of that index.
 */
private[write] final case class OrcZeros(leaves: IndexedSeq[FloatLeaf]) extends ZeroSettings {
  override def put(conf: Configuration, found: IndexedSeq[Boolean]): Unit =
    if (leaves.zip(found).exists { case (leaf, zero) => zero && leaf.inStructs })
      OrcConf.ROW_INDEX_STRIDE.setInt(conf, 0)

  override def begin(writer: OutputWriter): Unit = ()
}

private[write] object ZeroSettings {

  def parquet(schema: StructType, file: MessageType): ParquetZeros =
    ParquetZeros(
      of(schema, file, Vector.empty).map(_.flatMap(nameOf)),
      KeptSchema.leafPaths(file).flatMap(nameOf)
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
