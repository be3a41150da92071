package org.sparkzorder.skipping

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import org.sparkzorder.Repository

/**
 * From the peers' fixtures, which are statistics, back to rows that have them. What a fixture leaves open, a case's own
 * literals fill.
 */
private object RealFiles {

  val HudiSchema: StructType = StructType.fromDDL("A BIGINT, B STRING, C TIMESTAMP, D STRING")

  /** @param unknown what a column holds whose statistics are not known */
  def hudi(file: JsonNode, unknown: Option[String]): Seq[Row] = {
    def ends(name: String)(typed: JsonNode => Any): Seq[Any] = Option(file.get(name)).toSeq.flatMap { s =>
      val suffix = if (name == "C") "_epoch_ms" else ""
      val known = Seq("min", "max").flatMap(end => Option(s.get(end + suffix))).filterNot(_.isNull).map(typed)
      known ++ Seq.fill[Any](Option(s.get("null_count")).fold(0)(_.asInt))(null)
    }
    val columns = Seq(
      ends("A")(n => Long.box(n.asLong)),
      Some(ends("B")(_.asText)).filter(_.nonEmpty).getOrElse(unknown.toSeq),
      ends("C")(n => new Timestamp(n.asLong))
    )
    // A shorter column goes on with its first value.
    (0 until columns.map(_.size).max)
      .map(i => Row.fromSeq(columns.map(c => c.lift(i).orElse(c.headOption).orNull) :+ null))
  }

  /** All columns of Iceberg's files, structs made of their leaves. */
  def icebergSchema(files: Iterable[JsonNode]): StructType = {
    val types =
      files.flatMap(_.get("columns").properties.asScala.map(e => e.getKey -> e.getValue.get("type").asText)).toMap
    StructType(types.keys.filterNot(_.contains('.')).toSeq.sorted.map { name =>
      val leaves = types.keys.filter(_.startsWith(s"$name.")).toSeq.sorted
      if (leaves.isEmpty) StructField(name, DataType.fromDDL(types(name)))
      else
        StructField(name, StructType(leaves.map(l => StructField(l.drop(name.length + 1), DataType.fromDDL(types(l))))))
    })
  }

  /**
   * The values of a column, structs as rows.
   *
   * @param literals what the cases ask of each column
   */
  def iceberg(file: JsonNode, name: String, literals: Map[String, Seq[JsonNode]]): Seq[Any] = {
    val columns = file.get("columns")
    val leaves = columns.properties.asScala.map(_.getKey).filter(_.startsWith(s"$name.")).toSeq.sorted
    def of(path: String): IndexedSeq[Any] =
      values(columns.get(path), file.get("record_count").asInt, literals.getOrElse(path, Nil)).toIndexedSeq
    if (leaves.isEmpty) of(name)
    else {
      val rows = leaves.map(of).transpose.map(Row.fromSeq)
      // Whether a struct itself is null is nowhere counted.
      if (columns.get(name).get("required").asBoolean) rows else rows.dropRight(1) :+ null
    }
  }

  private def values(c: JsonNode, records: Int, literals: Seq[JsonNode]): Seq[Any] = c.get("type").asText match {
    case "int"    => new Kind[Int](_.asInt, 0, None, i => Seq(i, i - 1, i + 1)).values(c, records, literals)
    case "float"  => floats.values(c, records, literals)
    case "double" => doubles.values(c, records, literals)
    // All of them are ordered by their UTF-16 units as by their bytes.
    case "string" => new Kind[String](_.asText, "m", None, s => Seq(s, s"${s}x")).values(c, records, literals)
  }

  private lazy val floats = new Kind[Float](_.asDouble.toFloat, 0f, Some(Float.NaN), f => Seq(f, f - 1, f + 1))
  private lazy val doubles = new Kind[Double](_.asDouble, 0d, Some(Double.NaN), d => Seq(d, d - 1, d + 1))

  /** A type's values, as a test makes them. */
  private final class Kind[T](of: JsonNode => T, any: T, nan: Option[T], near: T => Seq[T])(implicit
      order: Ordering[T]
  ) {

    def values(c: JsonNode, records: Int, literals: Seq[JsonNode]): Seq[Any] = {
      def number(key: String) = Option(c.get(key)).filterNot(_.isNull).map(_.asInt)
      val ends = Seq("lower", "upper").map(c.get(_)).filterNot(_.isNull)
      val bounds = ends.filterNot(_.asText == "NaN").map(of)
      val n = number("value_count").getOrElse(records)
      // A count that is not known may be one.
      val open = if (number("nan_count").contains(n) || number("null_count").contains(n) || n == 0) 0 else 1
      val nulls = number("null_count").getOrElse(if (c.get("required").asBoolean) 0 else open)
      val mayBeNaN = nan.isDefined && (bounds.isEmpty || bounds.size < ends.size)
      val nans = number("nan_count").getOrElse(if (mayBeNaN) open else 0)
      val asked = literals.map(of).flatMap(near).distinct
        .filter(v => bounds.headOption.forall(order.lteq(_, v)) && bounds.drop(1).forall(order.gteq(_, v)))
      val pool = (bounds ++ asked ++ (if (bounds.isEmpty) Seq(any) else Nil)).distinct.toIndexedSeq
      val some = n - nulls - nans
      require(some == 0 || some >= pool.size, s"$pool do not fit into $c")
      Seq.tabulate(some)(i => pool(i % pool.size)) ++ Seq.fill(nans)(nan.get) ++ Seq.fill[Any](nulls)(null)
    }
  }
}

/** The test cases of other projects in `jvm/src/test/resources/oracle`. */
private object OracleCases {

  def read(name: String): JsonNode =
    new ObjectMapper().readTree(Repository.root.resolve(s"jvm/src/test/resources/oracle/$name.json").toFile)

  def texts(node: JsonNode): Seq[String] = node.elements.asScala.map(_.asText).toSeq

  /** One of Iceberg's cases, over the file of one column. */
  final class IcebergCase(c: JsonNode) {
    private val predicate = c.get("predicate")
    val file: String = c.get("file").asText

    /** `<3 ints 5..7>` stands for `5, 6, 7`. */
    val sql: String = raw"<\d+ ints (-?\d+)\.\.(-?\d+)>".r
      .replaceAllIn(c.get("sql").asText, m => (m.group(1).toInt to m.group(2).toInt).mkString(", "))
    val path: String = predicate.findValuesAsText("col").get(0).toLowerCase
    val key: (String, String) = (file, path.takeWhile(_ != '.'))
    val keep: Boolean = c.get("expected_keep_spark").asBoolean

    /** Else Iceberg keeps a file that no row of it asks for. */
    val tight: Boolean = c.get("tight").asBoolean
    val literals: Seq[JsonNode] = predicate.findValues("value").asScala.toSeq ++
      predicate.findValues("values").asScala.flatMap(_.elements.asScala)
    val clue: String = s"${c.get("id").asText}: ${c.get("sql").asText}"
  }
}
