package org.sparkzorder.tool

import java.io.{FileNotFoundException, IOException}
import java.net.URI
import java.nio.file.{AccessDeniedException, Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.sparkzorder.commit._

/**
 * What `python -m spark_zorder status`, `recover`, `unlock` and `uninstall` do, without a session: only a file system is
 * needed. [[main]] is for local disks; a session's JVM calls [[run]] for any other file system.
 */
object TableTool {

  /** Exit codes, which the result repeats as `exitCode`. */
  val Done = 0
  val Failed = 1
  val Locked = 3

  private val mapper = new ObjectMapper()

  /** `command path lockTimeoutSeconds [flag]` */
  def main(arguments: Array[String]): Unit = {
    require(Seq(3, 4).contains(arguments.length), "usage: command path lockTimeoutSeconds [flag]")
    val Seq(command, path, timeout, flag) = arguments.toSeq.padTo(4, ""): @unchecked
    // Not by `FileSystem.get`, which looks for every file system there is and takes longer than all the rest.
    val local = new LocalFileSystem()
    local.initialize(URI.create("file:///"), new Configuration())
    val result = answer(command, path, timeout.toLong, flag, _ => local)
    println(mapper.writeValueAsString(result))
    System.out.flush()
    // Heartbeats end with the process.
    Runtime.getRuntime.halt(result.get("exitCode").asInt)
  }

  /**
   * For a session: the same over any file system that its settings know. Returns JSON.
   *
   * @param flag `force` of `unlock`, `keep-visible` or `bring-back` of `recover`, or empty
   */
  def run(command: String, path: String, timeoutSeconds: Long, flag: String, settings: Configuration): String =
    mapper.writeValueAsString(answer(command, path, timeoutSeconds, flag, _.getFileSystem(settings)))

  private def answer(
      command: String,
      path: String,
      timeoutSeconds: Long,
      flag: String,
      fileSystem: Path => FileSystem
  ): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("command", command)
    node.put("path", path)
    def failed(code: Int, error: String, message: String): Unit = {
      node.put("exitCode", code)
      node.put("error", error)
      node.put("message", message)
      ()
    }
    try {
      val asked = new Path(path)
      val fs = fileSystem(asked)
      val root = fs.makeQualified(asked)
      val folder = TableFolder(root, new HadoopFileOps(fs))
      if (!folder.ops.status(root).exists(_.isDirectory)) throw new FileNotFoundException(s"There is no folder $root.")
      node.put("path", if (root.toUri.getScheme == "file") root.toUri.getPath else root.toString)
      node.put("exitCode", Done)
      val commands = new TableCommands(folder, LockSettings(timeoutMillis = timeoutSeconds * 1000), realPath)
      (command, flag) match {
        case ("status", "")              => commands.status(node)
        case ("recover", "")             => commands.recover(node, Choice.Ask)
        case ("recover", "keep-visible") => commands.recover(node, Choice.KeepVisible)
        case ("recover", "bring-back")   => commands.recover(node, Choice.BringBack)
        case ("unlock", "" | "force")    => commands.unlock(node, flag == "force")
        case ("uninstall", "")           => commands.uninstall(node)
        case other                       => throw new IllegalArgumentException(s"no command $other")
      }
    } catch {
      case e: ConcurrentOperationException =>
        val owner = e.owner.fold("an owner whose lock file cannot be read")(_.describe)
        failed(Locked, "LOCKED", s"The table is locked by $owner. Wait until it ends. `status` shows its heartbeat.")
      case e: LockLostException =>
        failed(Locked, "LOCKED", s"Somebody else works on the table: ${e.getMessage}. Run `status`.")
      case e: UnfinishedOperationException =>
        failed(Failed, "UNFINISHED", s"${e.getMessage}. Run `recover` first.".capitalize)
      case e: RecoveryUnclearException =>
        failed(
          Failed,
          "UNCLEAR",
          "An operation ended half way, and others have deleted or written files since, so nobody can tell which rows " +
            s"are right. ${e.folders.map(_.sentence).mkString(" ")} Nothing was moved or deleted there. If the visible " +
            "files are right, run `recover --keep-visible`: the files in the trash then stay there until VACUUM. To get " +
            "the files of before back beside them, run `recover --bring-back`."
        )
      case e: CommitException => failed(Failed, "FAILED", s"${e.getMessage}.".capitalize)
      case e @ (_: AccessControlException | _: AccessDeniedException) =>
        failed(Failed, "NO_PERMISSION", s"This user may not do that: ${e.getMessage}")
      case e: IOException => failed(Failed, "FAILED", Option(e.getMessage).getOrElse(e.toString))
    }
    node
  }

  /** Of local folders only: elsewhere there are no links. */
  private def realPath(path: Path): String = {
    val text = path.toUri.getPath
    if (path.toUri.getScheme == "file" && Files.exists(Paths.get(text))) Paths.get(text).toRealPath().toString else text
  }
}
