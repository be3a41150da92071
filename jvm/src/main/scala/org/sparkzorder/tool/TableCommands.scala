package org.sparkzorder.tool

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.Path

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.{FileMeta, FileNames, Keep, RecordState, TableFolder}
import org.sparkzorder.commit.lock.{LockReport, LockSettings}
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.upkeep.{FolderBytes, RetiredFiles, TableReport, UnfinishedReport, Uninstall, Unlock}
import org.sparkzorder.optimize.options.OptimizeOptions

/** How the tool's process ends. The result repeats it as `exitCode`. */
private[tool] object ExitCode {
  val Done = 0
  val Failed = 1

  val Locked = 3
}

/** The commands on one table. Each writes its result into a JSON object. */
private[tool] final class TableCommands(folder: TableFolder, settings: LockSettings) {

  /** Changes nothing. */
  def status(node: ObjectNode): Unit = {
    val report = TableReport.of(folder, settings)
    node.put("state", state(report))
    node.put("version", report.version)
    node.put("operations", report.history.size)
    locks(node.putArray("locks"), report.locks)
    val unfinished = node.putArray("unfinished")
    report.unfinished.foreach(u => one(unfinished.addObject(), u))
    val trash = node.putArray("trash")
    report.trash.foreach(t => one(trash.addObject(), t))
    node.put("trashFiles", report.trash.map(_.files.count(isRetired)).sum)
    node.put("trashBytes", report.trash.map(_.files.filter(isRetired).map(_.length).sum).sum)
    folders(node.putArray("otherTrash"), report.otherTrash)
    folders(node.putArray("staging"), report.staging)
    val indexes = node.putArray("indexes")
    report.indexes.foreach { i =>
      val index = indexes.addObject()
      index.put("file", i.meta.name)
      index.put("bytes", i.meta.length)
    }
    Json.addAll(node.putArray("temporary"), report.temporary.map(_.name))
    Json.addAll(node.putArray("otherTables"), report.otherTables.map(o => text(o.path)))
  }

  def recover(node: ObjectNode, keep: Option[Keep]): Unit = {
    val recovered = Recovery.recover(folder, settings, keep)
    // Without anything to recover, a living owner may still have the lock.
    val locked = LockReport.of(folder, folder.ops.list(folder.side), settings).filterNot(_.isDead)
    actions(node, recovered)
    locked.headOption.foreach(lock => TableCommands.isLocked(node, TableCommands.lockedBy(lock.describe)))
  }

  def unlock(node: ObjectNode, force: Boolean): Unit = {
    val unlocked = Unlock.run(folder, settings, force)
    locks(node.putArray("removed"), unlocked.removed)
    locks(node.putArray("kept"), unlocked.kept)
    actions(node, unlocked.recovered)
    if (unlocked.kept.nonEmpty) TableCommands.isLocked(
      node,
      s"The table is locked by ${unlocked.kept.map(_.describe).mkString(", ")}, which may live. Nothing was removed. If " +
        "you are sure that it does not, use `unlock --force`."
    )
  }

  def uninstall(node: ObjectNode): Unit = {
    val done = new Uninstall(folder, settings).run()
    node.put("removedFiles", done.files)
    node.put("removedBytes", done.bytes)
    node.put("removedRecords", done.records)
    val left = node.putArray("left")
    done.left.foreach { l =>
      val one = left.addObject()
      one.put("path", text(l.path))
      one.put("reason", l.reason)
    }
  }

  private def state(report: TableReport): String =
    if (report.isLocked) "locked" else if (report.needsRecovery) "unfinished" else "quiet"

  private def actions(node: ObjectNode, recovered: Seq[String]): Unit = Json.addAll(node.putArray("actions"), recovered)

  private def locks(array: ArrayNode, found: Seq[LockReport]): Unit = found.foreach { lock =>
    val node = array.addObject()
    node.put("file", lock.file.name)
    node.put("state", lock.state.word)
    node.put("onThisHost", lock.isHere)
    node.put("heartbeatAgeMillis", lock.beatMillis)
    lock.owner.foreach { o =>
      node.put("operation", o.operation)
      node.put("operationId", o.operationId)
      node.put("host", o.process.host)
      node.put("pid", o.process.pid)
    }
  }

  private def one(node: ObjectNode, found: UnfinishedReport): Unit = {
    node.put("file", found.file.meta.name)
    node.put("state", found.file.state.suffix)
    node.put("version", found.file.version)
    found.fault.foreach(node.put("fault", _))
    found.record.foreach { r =>
      node.put("operation", r.operation)
      node.put("operationId", r.operationId)
      node.put("user", r.userId)
      node.put("timestamp", r.timestamp)
      node.put("folders", r.folders.size)
      node.put("inputs", r.inputs.size)
      node.put("retired", found.retired.size)
      node.put("retiredBytes", found.retired.map(_.length).sum)
      node.put("outputs", r.outputs.size)
      node.put("published", found.published)
      node.put("missing", found.missing)
      node.put(
        "recovery",
        if (found.file.state == RecordState.Moving) "the next statement asks the catalog"
        else if (found.unclear.nonEmpty) "needs a choice"
        else if (found.goesOn) "finishes it"
        else "undoes it"
      )
      Json.addAll(node.putArray("unclear"), found.unclear)
    }
  }

  private def one(node: ObjectNode, retired: RetiredFiles): Unit = {
    node.put("version", retired.version)
    node.put("files", retired.files.count(isRetired))
    node.put("bytes", retired.files.filter(isRetired).map(_.length).sum)
    retired.record.foreach { entry =>
      node.put("operation", entry.record.operation)
      node.put("timestamp", entry.record.timestamp)
      node.put("state", entry.state)
      val hours = OptimizeOptions.retainHours(entry.record.parameters)
      node.put("keptUntil", entry.record.timestamp + hours * 3600000L)
    }
  }

  private def folders(array: ArrayNode, found: Seq[FolderBytes]): Unit = found.foreach { f =>
    val node = array.addObject()
    node.put("path", text(f.folder.path))
    node.put("files", f.files)
    node.put("bytes", f.bytes)
  }

  // A local file system has checksum files beside the retired ones.
  private def isRetired(file: FileMeta): Boolean = file.name.endsWith(FileNames.RetiredSuffix)

  private def text(path: Path): String = folder.relative(path).getOrElse(path.toUri.getPath)
}

private[tool] object TableCommands {
  def lockedBy(owner: String): String =
    s"The table is locked by $owner. Wait until it ends. `status` shows its heartbeat."

  def isLocked(node: ObjectNode, message: String): Unit = failed(node, ExitCode.Locked, "LOCKED", message)

  def failed(node: ObjectNode, exitCode: Int, error: String, message: String): Unit = {
    node.put("exitCode", exitCode)
    node.put("error", error)
    node.put("message", message)
    ()
  }
}
