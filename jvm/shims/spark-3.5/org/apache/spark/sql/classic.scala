package org.apache.spark.sql

/** Sessions and data sets of Spark 3.5 have no other form than the classic one, and no package for it. */
package object classic {
  type SparkSession = org.apache.spark.sql.SparkSession
  val SparkSession: org.apache.spark.sql.SparkSession.type = org.apache.spark.sql.SparkSession
  type Dataset[T] = org.apache.spark.sql.Dataset[T]
  val Dataset: org.apache.spark.sql.Dataset.type = org.apache.spark.sql.Dataset
  type DataFrame = org.apache.spark.sql.DataFrame
}
