package org.sparkzorder.commit

import java.nio.file.{FileAlreadyExistsException, Files, Paths}

/**
 * Places at which a test may stop the process: between every two steps of the protocol.
 *
 * The system property `spark.zorder.test.failpoint`, or the environment's `SPARK_ZORDER_FAILPOINT`,
 * names one. `<name>` halts the JVM there with code 137, as a kill would. `<name>:pause:<file>`
 * makes `<file>.reached` and goes on once `<file>` exists.
 */
object Failpoints {
  val Property = "spark.zorder.test.failpoint"
  val Variable = "SPARK_ZORDER_FAILPOINT"

  /**
   * All names, in the order in which an OPTIMIZE reaches them. Those of an undo and of VACUUM come
   * last.
   */
  val all: Seq[String] = Seq(
    "after-lock",
    "after-manifest",
    "after-stage-folders",
    "after-staging",
    "after-staging-all",
    "before-commit-point",
    "after-commit-point",
    "reveal-1",
    "decided",
    "retire-1",
    "before-record-done",
    "after-record-done",
    "after-clean",
    "before-unlock",
    "after-unlock",
    "bring-back-1",
    "drop-1",
    "vacuum-record",
    "vacuum-1"
  )

  /** Those that an OPTIMIZE reaches that moves the table to a new folder. */
  val byCatalog: Seq[String] = Seq(
    "before-listing",
    "after-manifest",
    "after-stage-folders",
    "after-sentinels",
    "before-commit-point",
    "after-commit-point",
    "after-carried",
    "after-manifest-removed"
  )

  private def asked: Option[String] = Option(System.getProperty(Property)).orElse(Option(System.getenv(Variable)))

  /**
   * Whether one is named. Then everything runs on one thread, so that nothing goes on while it
   * pauses.
   */
  def isSet: Boolean = asked.isDefined

  def hit(name: String): Unit = {
    asked.foreach { value =>
      value.split(":", 3) match {
        case Array(`name`)                => Runtime.getRuntime.halt(137)
        case Array(`name`, "pause", file) => pause(file)
        case _                            => ()
      }
    }
  }

  private def pause(file: String): Unit = {
    try Files.createFile(Paths.get(file + ".reached"))
    catch { case _: FileAlreadyExistsException => () }
    while (!Files.exists(Paths.get(file))) Thread.sleep(10)
  }
}
