package org.sparkzorder.skipping

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{StructField, StructType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll
import org.sparkzorder.predicate.OracleCases

/**
 * Delta's cases over files that Spark or OPTIMIZE has written, through the extension's own rule. Cases whose columns go
 * together share a table, a partition for each. Where a file is read that holds no matching row, the reason stands
 * beside the exception.
 */
@TestAll
class RealDeltaSuite extends AnyFunSuite with RealTables {
  import OracleCases._
  import RealDeltaSuite._

  private final class Case(val json: JsonNode) {
    val id: Int = json.get("id").asInt
    private val frames = deltaFiles(spark, json)
    val schema: StructType = StructType(frames.head.schema.map(_.copy(nullable = true)))
    val files: Seq[Seq[InternalRow]] = frames.map(_.queryExecution.toRdd.map(_.copy()).collect().toSeq)

    /** How many files come after the index, as those that Delta had no statistics of. */
    val unknown: Int = withoutStatistics.getOrElse(id, 0)
    val directory = s"of_case=$id"
    def file(i: Int) = s"$directory/f$i"
    def conditions(kind: String): Seq[String] = texts(json.get(kind))
    def matching(condition: String): Int = json.get("files_with_matching_rows").get(condition).asInt
    def expected(condition: String): Option[Int] =
      Option(json.get("expected_files")).flatMap(e => Option(e.get(condition))).map(_.asInt)
  }

  private lazy val cases: Seq[Case] = read("delta_skipping_cases").elements.asScala.toSeq.map(new Case(_))

  /** Cases that agree in the types of the columns which they share. */
  private def grouped(some: Seq[Case]): Seq[(StructType, Seq[Case])] =
    some.foldLeft(Vector.empty[(StructType, Vector[Case])]) { (groups, c) =>
      groups.indexWhere { case (schema, _) =>
        c.schema.forall(f => find(schema, f).forall(_.dataType == f.dataType))
      } match {
        case -1 => groups :+ (c.schema -> Vector(c))
        case i  =>
          val (schema, of) = groups(i)
          groups.updated(i, StructType(schema ++ c.schema.filter(find(schema, _).isEmpty)) -> (of :+ c))
      }
    }

  private def find(schema: StructType, field: StructField) = schema.find(_.name.equalsIgnoreCase(field.name))

  private def write(table: RealTable, schema: StructType, c: Case, files: Range): Unit = {
    val from = schema.map(field => c.schema.indexWhere(_.name.equalsIgnoreCase(field.name)))
    files.foreach { i =>
      table.write(
        c.file(i),
        c.files(i).map { row =>
          new GenericInternalRow(schema.indices.map(k =>
            if (from(k) < 0) null else row.get(from(k), schema(k).dataType)
          ).toArray[Any])
        }
      )
    }
  }

  private def writable(format: String): Seq[Case] = cases.filterNot(c => format == "orc" && notInOrc(c.id))

  /** Conditions that hold for no row of a case: no file of it need be read. */
  private def hopeless(c: Case): Seq[String] = c.conditions("misses") ++ c.conditions("hits_prunable_in_principle")

  /** Fails where a file is read in vain without an excuse, and where an excuse is not needed any more. */
  private def assertExcused(of: String, inVain: Seq[(Int, String)]): Unit = {
    val excuses = exceptions.filter(_.tables.contains(of))
    val unexcused = inVain.filterNot { case (_, condition) => excuses.exists(_.covers(condition)) }
    assert(unexcused == Nil)
    assert(excuses.filterNot(e => inVain.exists(v => e.covers(v._2))).map(_.reason) == Nil, s"is no excuse for $of")
  }

  Seq("parquet", "orc").foreach { format =>
    test(s"Delta's data skipping cases, $format files with an index of their footers") {
      var skipped = 0
      val inVain = grouped(writable(format)).flatMap { case (schema, group) =>
        val table = new RealTable(format, schema)
        group.foreach(c => write(table, schema, c, c.unknown until c.files.size))
        table.run(s"CREATE SKIPPING INDEX ON ${table.name}")
        group.foreach(c => write(table, schema, c, 0 until c.unknown))
        val reader = table.reader
        // The same rule decides for all conditions: one of each table tells whether EXPLAIN shows what it did.
        group.flatMap(_.conditions("hits_must_read")).find(_.toLowerCase != "true").foreach { condition =>
          assert(table.explained(condition) == reader.kept(condition).size, condition)
        }
        group.flatMap { c =>
          val late = (0 until c.unknown).map(c.file).toSet
          val kept = (c.conditions("hits") ++ hopeless(c)).distinct
            .map(condition => condition -> reader.kept(condition).filter(_.startsWith(s"${c.directory}/"))).toMap
          kept.foreach { case (condition, files) =>
            assert(files.size >= c.matching(condition), s"${c.id}: $condition: $files")
            assert(late.isEmpty || late.subsetOf(files), s"${c.id}: $condition: $files")
          }
          skipped += c.conditions("hits_prunable_in_principle").count(kept(_).isEmpty)
          val more = kept.keys.filter(condition => c.expected(condition).exists(_ < kept(condition).size))
          (hopeless(c).filter(kept(_).size > late.size) ++ more).map(c.id -> _)
        }
      }
      assertExcused(s"$format footers", inVain)
      info(s"$skipped conditions skip files that Delta reads in vain")
    }

    test(s"Delta's data skipping cases, $format files of OPTIMIZE") {
      val inVain = grouped(writable(format)).flatMap { case (schema, group) =>
        val table = new RealTable(format, schema)
        group.foreach(c => write(table, schema, c, c.files.indices))
        table.run(s"OPTIMIZE ${table.name} FULL")
        val reader = table.reader
        group.flatMap { c =>
          def kept(condition: String) = reader.kept(condition).exists(_.startsWith(s"${c.directory}/"))
          c.conditions("hits_must_read")
            .foreach(condition => assert(kept(condition) || c.matching(condition) == 0, s"${c.id}: $condition"))
          hopeless(c).filter(kept).map(c.id -> _)
        }
      }
      assertExcused(s"$format OPTIMIZE", inVain)
    }
  }
}

object RealDeltaSuite {

  /** Cases that Spark's ORC writer cannot hold: timestamps at the end of their range come back as others. */
  private val notInOrc: Set[Int] = Set(54, 55, 57, 58)

  /** Of how many files of a case Delta had no statistics. */
  private val withoutStatistics: Map[Int, Int] = Map(48 -> 3, 60 -> 2)

  private final case class Exception(tables: Set[String], condition: String, reason: String) {
    def covers(text: String): Boolean = condition.r.findFirstIn(text).isDefined
  }

  /** Conditions of which a file is read in vain. */
  private val exceptions: Seq[Exception] = Seq(
    Exception(
      Set("orc footers"),
      raw"arr_col|map_col|struct_col IS",
      "of arrays, maps and structs the nulls are counted by OPTIMIZE's own write, not read from footers"
    ),
    Exception(
      Set("orc footers", "orc OPTIMIZE"),
      raw"\bc?c5\b|\bts\b",
      "an ORC file's instants depend on the zone of the JVM that reads them"
    ),
    Exception(
      Set("parquet footers", "orc footers", "parquet OPTIMIZE", "orc OPTIMIZE"),
      "%",
      "a remainder does not follow the order of what is divided"
    )
  )
}
