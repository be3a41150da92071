package org.sparkzorder.skipping

import scala.reflect.ClassTag

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.errors.ZOrderErrors

/**
 * Rows of a scan that may only be read under one value of `spark.sql.legacy.timeParserPolicy`: its tasks read texts as
 * times by the value of each run, and its files were chosen by that of the first one.
 */
private[skipping] final class OnePolicyRDD[T: ClassTag](rows: RDD[T], policy: String) extends RDD[T](rows) {

  override protected def getPartitions: Array[Partition] = rows.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[T] = {
    val now = SQLConf.get.legacyTimeParserPolicy.toString
    if (now != policy) throw ZOrderErrors.settingChanged(SQLConf.LEGACY_TIME_PARSER_POLICY.key, policy, now)
    rows.iterator(split, context)
  }
}
