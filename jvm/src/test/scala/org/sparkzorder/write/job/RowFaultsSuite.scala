package org.sparkzorder.write.job

import java.io.File

import org.apache.spark.{SparkThrowable, TaskContext}
import org.apache.spark.rdd.{PartitionPruningRDD, RDD}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GreaterThanOrEqual, Literal, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.unsafe.Platform
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{LocalSpark, TestRest}
import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.write.rows.{PackedRowsExec, RowCompaction, UnpackedRowsExec}

/** The shuffle loses, doubles or mixes up rows. OPTIMIZE must end before it publishes anything. */
@TestRest
class RowFaultsSuite extends AnyFunSuite with LocalSpark {

  override protected def settings: Map[String, String] = {
    val (before, after) = (classOf[FilteringExtension].getName, classOf[FaultyShuffles].getName)
    Map("spark.sql.extensions" -> s"$before,org.sparkzorder.ZOrderSparkExtension,$after")
  }

  private def table(name: String): File = {
    val folder = new File(dir, name)
    spark.range(0, 2000, 1, 4).selectExpr(
      "id % 50 k", "id v", "if(id % 3 = 0, null, concat('s', id % 7)) s",
      "cast(if(id % 5 = 0, '-0.0', '0.0') as double) d", "id % 2 p"
    ).write.partitionBy("p").parquet(folder.toString)
    folder
  }

  private def rows(folder: File): Seq[String] =
    spark.read.parquet(folder.toString).collect().map(_.toString).sorted.toSeq

  private def files(folder: File): Seq[String] =
    org.apache.commons.io.FileUtils.listFiles(folder, null, true).toArray.toSeq.map(_.toString).sorted
      .filter(_.endsWith(".parquet"))

  private def optimize(folder: File, options: String = ""): Unit =
    spark.sql(s"OPTIMIZE parquet.`$folder` ZORDER BY (k) OPTIONS ('num-files' = '3'$options)").collect()

  private val count = "ZORDER_VERIFICATION_FAILED.ROW_COUNT"
  private val hash = "ZORDER_VERIFICATION_FAILED.ROW_HASH"

  private val BitOfPacked = "a bit of a packed row"

  private def changed(change: Seq[UnsafeRow] => Seq[UnsafeRow]): Iterator[UnsafeRow] => Iterator[UnsafeRow] =
    rows => change(rows.map(_.copy()).toSeq).iterator

  private def set(change: Seq[UnsafeRow] => Unit): Iterator[UnsafeRow] => Iterator[UnsafeRow] = changed { rows =>
    change(rows)
    rows
  }

  private val swapped = set { rows =>
    val values = rows.map(_.getLong(1))
    rows.head.setLong(1, values(1))
    rows(1).setLong(1, values.head)
  }

  /** Flips a bit of a value of the first row, which is packed. */
  private val bitOfPacked = set { rows =>
    val row = rows.head
    val place = row.getLong(1)
    val last = row.getBaseOffset + (place >>> 32) + place.toInt - RowCompaction.Spare - 1
    Platform.putByte(row.getBaseObject, last, (Platform.getByte(row.getBaseObject, last) ^ 1).toByte)
  }

  private val faults: Seq[(String, String, Iterator[UnsafeRow] => Iterator[UnsafeRow])] = Seq(
    ("a row lost", count, _.zipWithIndex.collect { case (row, i) if i != 3 => row }),
    ("a row doubled", count, _.zipWithIndex.flatMap { case (row, i) => Seq.fill(if (i == 3) 2 else 1)(row) }),
    ("a partition of the shuffle lost", count, _ => Iterator.empty),
    ("a row doubled in place of another", hash, changed(rows => rows.updated(1, rows.head))),
    ("two rows with one value swapped", hash, swapped),
    ("-0.0 that is 0.0", hash, set(_.foreach(row => if (row.getDouble(3) == 0) row.setDouble(3, 0.0)))),
    ("a null that is none", hash, set(_.find(_.isNullAt(2)).foreach(_.setNotNullAt(2)))),
    (BitOfPacked, hash, bitOfPacked)
  )

  for {
    ((name, condition, fault), i) <- faults.zipWithIndex
    behind <- Seq(false, true)
  } test(s"$name, ${if (behind) "behind" else "before"} the shuffle") {
    val folder = table(s"t$i-$behind")
    val (before, filesBefore) = (rows(folder), files(folder))
    FaultyShuffles.fault = Some((behind, name == BitOfPacked, fault))
    val error =
      try intercept[Exception](optimize(folder))
      finally FaultyShuffles.fault = None
    assert(error.asInstanceOf[SparkThrowable].getCondition == condition, error)
    assert(Seq("p=0", "p=1").exists(p => error.getMessage.contains(s"$folder/$p")), error.getMessage)
    assert(rows(folder) == before && files(folder) == filesBefore)
    optimize(folder)
    assert(rows(folder) == before && files(folder) != filesBefore)
  }

  test("rows get into another folder's files") {
    val folder = table("mixed")
    val before = rows(folder)
    // All rows of the table are written, and no others, so counts of the whole table would show nothing.
    FaultyShuffles.exchange = true
    val error =
      try intercept[Exception](optimize(folder))
      finally FaultyShuffles.exchange = false
    assert(error.asInstanceOf[SparkThrowable].getCondition == count, error)
    assert(rows(folder) == before)
  }

  test("the history has the hash of all rows, the same for the same rows") {
    def hashes(folder: File) = {
      optimize(folder, ", 'max-concurrent-file-group-rewrites' = '2', 'max-file-group-size-bytes' = '1'")
      spark.sql(s"OPTIMIZE parquet.`$folder` FULL ZORDER BY (v)").collect()
      spark.sql(s"DESCRIBE HISTORY parquet.`$folder`").selectExpr("operationMetrics['rowHash']").collect()
        .map(_.getString(0))
    }
    val found = Seq("h1", "h2").flatMap(name => hashes(table(name)))
    assert(found.length == 4 && found.distinct.length == 1, found)
    assert(found.head.matches("[0-9a-f]{16}"))
  }

  test("a filter of another extension that passes all rows changes no rewrite, and another one refuses it") {
    val folder = new File(dir, "filtered")
    spark.range(0, 800, 1, 4).selectExpr("id AS filtered", "id % 7 AS k").write.parquet(folder.toString)
    val before = rows(folder)
    val words = s"OPTIMIZE parquet.`$folder` FULL ZORDER BY (k, filtered) OPTIONS ('num-files' = '3')"
    spark.sql(words)
    def inputs = spark.read.parquet(folder.toString).inputFiles.toSet
    val written = inputs
    assert(rows(folder) == before && written.size == 3)
    withSettings("test.least" -> "100") {
      val (error, kept) = (intercept[Exception](spark.sql(words)), inputs)
      assert(error.getMessage.contains("ZORDER_VERIFICATION_FAILED") && kept == written, error)
    }
    assert(rows(folder) == before)
    assert(PendingScans.failures == 0)
  }
}

/** Puts a filter above each scan of a table with a column `filtered`, as extensions for rights do. */
private class FilteringExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectOptimizerRule { session =>
    new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
        case l: LogicalRelation if l.getTagValue(FilteringExtension.Seen).isEmpty =>
          l.setTagValue(FilteringExtension.Seen, ())
          l.output.find(_.name == "filtered").fold[LogicalPlan](l) { column =>
            Filter(GreaterThanOrEqual(column, Literal(session.conf.get("test.least", "0").toLong)), l)
          }
      }
    }
  }
}

private object FilteringExtension {
  val Seen = TreeNodeTag[Unit]("test.filtered")
}

/** Adds faults to the shuffles of a session, like a plug-in with a bug. */
private class FaultyShuffles extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectColumnar(_ =>
    new ColumnarRule {
      override def preColumnarTransitions: Rule[SparkPlan] = FaultyShuffles.Insert
    }
  )
}

private object FaultyShuffles {
  type Fault = Iterator[UnsafeRow] => Iterator[UnsafeRow]

  /** Whether it is after the shuffle, whether it gets packed rows, and what it makes of the second partition's rows. */
  @volatile var fault: Option[(Boolean, Boolean, Fault)] = None

  /** Whether the first and the last partition of the shuffle are swapped. */
  @volatile var exchange = false

  object Insert extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (!exchange && fault.isEmpty) plan
      else plan.transformUp {
        case s: ShuffleExchangeExec if exchange                 => Changed(exchanged, s)
        case s: ShuffleExchangeExec if of(behind = false, true) => before(s)
        case s: ShuffleExchangeExec if of(behind = true, true)  => faulty(s)
        case p: PackedRowsExec if of(behind = false, false)     => before(p)
        case u: UnpackedRowsExec if of(behind = true, false)    => faulty(u)
      }

    private def of(behind: Boolean, isPacked: Boolean): Boolean =
      fault.exists(f => f._1 == behind && f._2 == isPacked)

    private def before(p: SparkPlan): SparkPlan = p.withNewChildren(Seq(faulty(p.children.head)))

    private def faulty(p: SparkPlan): SparkPlan = Changed(inserted(fault.get._3), p)
  }

  private def inserted(fault: Fault)(rdd: RDD[InternalRow]): RDD[InternalRow] = rdd.mapPartitions { rows =>
    if (TaskContext.getPartitionId() == 1) fault(rows.asInstanceOf[Iterator[UnsafeRow]]) else rows
  }

  private def exchanged(rdd: RDD[InternalRow]): RDD[InternalRow] = {
    val last = rdd.getNumPartitions - 1
    def part(i: Int) = PartitionPruningRDD.create(rdd, (n: Int) => n == i)
    rdd.sparkContext.union((last +: (1 until last) :+ 0).map(part))
  }

  final case class Changed(change: RDD[InternalRow] => RDD[InternalRow], child: SparkPlan) extends UnaryExecNode {
    override def output: Seq[Attribute] = child.output
    override def outputPartitioning: Partitioning = child.outputPartitioning
    override protected def withNewChildInternal(newChild: SparkPlan): Changed = copy(child = newChild)
    override protected def doExecute(): RDD[InternalRow] = change(child.execute())
  }
}
