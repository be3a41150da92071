package org.sparkzorder.memory

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Locale, TimeZone}

import com.google.common.hash.Hashing
import org.apache.orc.OrcConf
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.table.SparkFormat

/**
 * All that decides which rows a reader finds in the files and which value an expression has, beside the files, the
 * filter and its columns. Settings are listed only if they cannot change a row, so an unknown one makes another filter.
 */
private[memory] object ReaderSettings {

  /**
   * A digest of the settings as they are now; None if files are left out on errors, so that an unread file looks like
   * an empty one. Expressions take those of the active session, and a reader some of the session that made the
   * relation.
   */
  def of(relation: HadoopFsRelation): Option[String] = {
    val session = relation.sparkSession
    val confs = Seq(SQLConf.get, session.sessionState.conf).distinct
    SparkFormat.of(relation).filterNot(_ => confs.exists(isUnsure(relation, _))).map { format =>
      val options = relation.options.iterator.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
        .filterNot { case (k, _) => Places(k) }
      val ofSessions = confs.map(ofSession).distinct.flatten
      val names = if (format == "orc") relation.dataSchema.fieldNames.toSeq else Nil
      digest(Seq(SPARK_VERSION, format) ++ ofMachine ++ names ++ sorted(options) ++ ofSessions ++ ofHadoop(session))
    }
  }

  private def ofSession(conf: SQLConf): Seq[String] = Seq(conf.sessionLocalTimeZone, conf.ansiEnabled.toString) ++
    sorted(conf.getAllConfs.iterator.filter { case (k, _) => mayChangeRows(k) })

  /** What expressions take from the JVM that runs them. */
  private def ofMachine: Seq[String] =
    Seq(TimeZone.getDefault.getID, Locale.getDefault.toString, System.getProperty("java.version"))

  /**
   * A digest of the settings of Spark that tasks get from the driver, and of the JVM. A plan may run more than once,
   * under other settings each time, and an executor may be another kind of machine.
   */
  def ofTask: String = {
    val settings = SQLConf.get.getAllConfs.iterator.filter { case (k, _) => k.startsWith("spark.") && mayChangeRows(k) }
    digest(ofMachine ++ sorted(settings))
  }

  private val Places = Set("path", "paths")

  /** Prefixes of settings that say how a query runs, and not what it finds. */
  private val Harmless = Seq(
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcast",
    "spark.sql.catalog.",
    "spark.sql.catalogImplementation",
    "spark.sql.cbo.",
    "spark.sql.codegen.",
    // The id of a query, which tasks get beside the settings.
    "spark.sql.dataset.",
    "spark.sql.execution.",
    "spark.sql.extensions",
    "spark.sql.files.maxPartition",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemory",
    "spark.sql.join.",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.sources.bucketing.",
    "spark.sql.statistics.",
    "spark.sql.streaming.",
    "spark.sql.ui.",
    "spark.sql.warehouse."
  )

  private def mayChangeRows(key: String): Boolean =
    Seq("parquet.", "orc.", "hive.exec.orc.").exists(key.startsWith(_)) ||
      (key.startsWith("spark.sql.") && !Harmless.exists(key.startsWith(_)))

  /** What Hadoop's own configuration says to the readers. Walking through all of it is too slow. */
  private val HadoopKeys = OrcConf.values.toSeq.map(_.getAttribute) ++ Seq(
    "parquet.crypto.factory.class",
    "parquet.filter.bloom.enabled",
    "parquet.filter.columnindex.enabled",
    "parquet.filter.dictionary.enabled",
    "parquet.filter.record-level.enabled",
    "parquet.filter.stats.enabled",
    "parquet.strings.signed-min-max.enabled"
  )

  private def ofHadoop(session: SparkSession): Seq[String] = {
    val hadoop = session.asInstanceOf[classic.SparkSession].sparkContext.hadoopConfiguration
    HadoopKeys.map(key => s"$key=${hadoop.get(key)}")
  }

  /**
   * Parquet's row reader takes -0.0 and 0.0 for two values, and the columns decide which reader reads. With field ids
   * Spark filters by names, and the columns decide whether it filters: it may leave out rows that the next query finds.
   */
  private def isUnsure(relation: HadoopFsRelation, conf: SQLConf): Boolean = conf.parquetRecordFilterEnabled ||
    conf.parquetFieldIdReadEnabled && ParquetUtils.hasFieldIds(relation.dataSchema) || ignoresErrors(relation, conf)

  private def ignoresErrors(relation: HadoopFsRelation, conf: SQLConf): Boolean = {
    def isOn(name: String, otherwise: Boolean) =
      relation.options.collectFirst { case (k, v) if k.equalsIgnoreCase(name) => v.trim.equalsIgnoreCase("true") }
        .getOrElse(otherwise)
    isOn("ignoreCorruptFiles", conf.ignoreCorruptFiles) || isOn("ignoreMissingFiles", conf.ignoreMissingFiles)
  }

  private def sorted(settings: Iterator[(String, String)]): Seq[String] =
    settings.map { case (k, v) => s"$k=$v" }.toVector.sorted

  private def digest(texts: Seq[String]): String = {
    val digest = Hashing.sha256.newHasher()
    texts.foreach(digest.putString(_, UTF_8).putByte(0: Byte))
    digest.hash().toString
  }
}
