package org.sparkzorder.memory.learn

import scala.util.Try

import org.apache.spark.SparkContext

/** Whether tasks can load this project's classes. Skipping by the index needs them on the driver only. */
private[learn] object ExecutorJar {

  private lazy val own: Option[String] =
    Try(getClass.getProtectionDomain.getCodeSource.getLocation.getPath).toOption.map(nameOf)

  /** Whether Spark gives the jar to the executors, or runs without any. */
  def isThere(context: SparkContext): Boolean =
    context.isLocal || own.exists(jar => jar.nonEmpty && jarsOf(context).exists(nameOf(_) == jar))

  /** On YARN, `--jars` goes this way. */
  private def jarsOf(context: SparkContext): Seq[String] =
    context.listJars() ++ context.getConf.get("spark.yarn.dist.jars", "").split(',')

  private def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)
}
