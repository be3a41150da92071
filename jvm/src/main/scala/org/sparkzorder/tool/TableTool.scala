package org.sparkzorder.tool

import java.io.{FileNotFoundException, IOException}
import java.net.URI
import java.nio.file.AccessDeniedException

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.sparkzorder.codec.Json
import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.storage.ObjectStores

/**
 * Runs `spark-zorder status`, `recover`, `unlock` and `uninstall`. They need a file system and no session. [[main]] is
 * for local disks. For other file systems, a session's JVM calls [[run]].
 */
object TableTool {
  import TableCommands._

  /** `command path lockTimeoutSeconds [flag]` */
  def main(arguments: Array[String]): Unit = {
    require(Seq(3, 4).contains(arguments.length), "usage: command path lockTimeoutSeconds [flag]")
    val Seq(command, path, timeout, flag) = arguments.toSeq.padTo(4, ""): @unchecked
    // `FileSystem.get` would look for every file system that there is, which takes longer than all the rest.
    val local = new LocalFileSystem()
    local.initialize(URI.create("file:///"), new Configuration())
    val result = answer(command, path, timeout.toLong, flag, _ => local)
    println(Json.text(result))
    System.out.flush()
    // Heartbeats end with the process.
    Runtime.getRuntime.halt(result.get("exitCode").asInt)
  }

  /**
   * Runs a command for a session, over any file system that its settings know. Returns JSON.
   *
   * @param flag `force` of `unlock`, `old` or `new` of `recover --keep`, or empty
   */
  def run(command: String, path: String, timeoutSeconds: Long, flag: String, settings: Configuration): String =
    Json.text(answer(command, path, timeoutSeconds, flag, _.getFileSystem(settings)))

  private def answer(
      command: String,
      path: String,
      timeoutSeconds: Long,
      flag: String,
      fileSystem: Path => FileSystem
  ): ObjectNode = {
    val node = Json.newObject()
    node.put("command", command)
    node.put("path", path)
    try {
      val asked = new Path(path)
      val fs = fileSystem(asked)
      val root = fs.makeQualified(asked)
      val folder = TableFolder(root, ObjectStores.ops(fs))
      if (!folder.ops.status(root).exists(_.isDirectory)) throw new FileNotFoundException(s"There is no folder $root.")
      node.put("path", if (root.toUri.getScheme == "file") root.toUri.getPath else root.toString)
      node.put("exitCode", ExitCode.Done)
      val commands = new TableCommands(folder, LockSettings(timeoutMillis = timeoutSeconds * 1000))
      (command, flag) match {
        case ("status", "")           => commands.status(node)
        case ("recover", "")          => commands.recover(node, None)
        case ("recover", "old")       => commands.recover(node, Some(Keep.Old))
        case ("recover", "new")       => commands.recover(node, Some(Keep.New))
        case ("unlock", "" | "force") => commands.unlock(node, flag == "force")
        case ("uninstall", "")        => commands.uninstall(node)
        case other                    => throw new IllegalArgumentException(s"no command $other")
      }
    } catch { case e @ (_: CommitException | _: IOException) => fail(node, e) }
    node
  }

  private def fail(node: ObjectNode, e: Throwable): Unit = e match {
    case e: ConcurrentOperationException =>
      isLocked(node, lockedBy(e.owner.fold("an owner whose lock file cannot be read")(_.describe)))
    case e: LockLostException => isLocked(node, s"Another process works on the table: ${e.getMessage}. Run `status`.")
    case e: UnfinishedOperationException =>
      failed(node, ExitCode.Failed, "UNFINISHED", s"${e.getMessage}. Run `recover` first.".capitalize)
    case e: FoldersUnclearException =>
      val how =
        s"An operation ended half way. ${e.folders.map(_.sentence).mkString(" ")} To end it with the files that are " +
          "there, run `recover --keep old` or `recover --keep new`. A folder that has only one side whole keeps that side."
      failed(node, ExitCode.Failed, "UNCLEAR", how)
    case e: CommitException => failed(node, ExitCode.Failed, "FAILED", s"${e.getMessage}.".capitalize)
    case e @ (_: AccessControlException | _: AccessDeniedException) =>
      failed(node, ExitCode.Failed, "NO_PERMISSION", s"This user may not do that: ${e.getMessage}")
    case e => failed(node, ExitCode.Failed, "FAILED", Option(e.getMessage).getOrElse(e.toString))
  }
}
