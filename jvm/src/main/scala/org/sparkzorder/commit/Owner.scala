package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * A process, so that another on the same host can tell whether it is still there.
 *
 * @param host host name, boot id and pid namespace: only where all three agree does a pid mean the same
 * @param start when the process started, in a form that only compares with itself: pids are used again
 */
final case class ProcessId(host: String, bootId: String, pidNamespace: String, pid: Long, start: String) {
  def sameHost(other: ProcessId): Boolean =
    host == other.host && bootId == other.bootId && pidNamespace == other.pidNamespace
}

/**
 * Who holds a lock, and for what.
 *
 * @param root of the table that is worked on, relative to the table in whose side folder the lock is: "" for that table
 *             itself, `p=1` for a table over one of its folders
 * @param since when the lock was taken by the process' own clock, milliseconds since 1970; 0 when it does not say
 */
final case class Owner(
    process: ProcessId,
    operationId: String,
    operation: String,
    root: String = "",
    since: Long = 0L
) {

  /** Whether the two operations may not be at work at the same time: one's table is the other's, or is above it. */
  def conflicts(other: Owner): Boolean = {
    def isWithin(inner: String, outer: String) = outer.isEmpty || inner == outer || inner.startsWith(outer + "/")
    isWithin(root, other.root) || isWithin(other.root, root)
  }

  def describe: String = {
    val where = if (root.isEmpty) "" else s" on the table over its folder '$root',"
    s"$operation $operationId$where of process ${process.pid} on ${process.host}"
  }
}

object Owner {

  /** Of a lock file; a larger one is not ours. */
  val ReadLimit: Long = 65536L

  private val mapper = new ObjectMapper()

  def write(owner: Owner): Array[Byte] = {
    val root = mapper.createObjectNode()
    root.put("host", owner.process.host)
    root.put("bootId", owner.process.bootId)
    root.put("pidNamespace", owner.process.pidNamespace)
    root.put("pid", owner.process.pid)
    root.put("start", owner.process.start)
    root.put("operationId", owner.operationId)
    root.put("operation", owner.operation)
    root.put("root", owner.root)
    root.put("since", owner.since)
    mapper.writeValueAsString(root).getBytes(UTF_8)
  }

  /** The bytes of a lock file as a listing shows it; None when it is gone, or too large to be one. */
  def bytes(ops: FileOps, lock: FileMeta): Option[Array[Byte]] =
    if (lock.length > ReadLimit) None
    else {
      try Some(ops.read(lock.path, ReadLimit))
      catch { case _: FileNotFoundException => None }
    }

  /** Of a lock file as a listing shows it; None when there are no such bytes, or they are not all there. */
  def read(ops: FileOps, lock: FileMeta): Option[Owner] = bytes(ops, lock).flatMap(parse)

  /** Whether these are the first bytes of a lock file, and more are to come or never came. */
  def isUnfinished(bytes: Array[Byte]): Boolean = !bytes.lastOption.contains('}'.toByte)

  /** None when it is no lock file of ours, or not yet written in full. */
  def parse(bytes: Array[Byte]): Option[Owner] =
    try {
      val root = mapper.readTree(bytes)
      def text(name: String): Option[String] = Option(root.get(name)).filter(_.isTextual).map(_.textValue)
      if (root == null || !root.isObject) None
      else {
        for {
          host <- text("host")
          boot <- text("bootId")
          namespace <- text("pidNamespace")
          pid <- Option(root.get("pid")).filter(n => n.isIntegralNumber && n.canConvertToLong).map(_.longValue)
          start <- text("start")
          id <- text("operationId")
          operation <- text("operation")
          // Builds of before knew of no other roots.
          below <- if (root.has("root")) text("root") else Some("")
          if below.isEmpty || Record.isDataName(below)
          since = Option(root.get("since")).filter(n => n.isIntegralNumber && n.canConvertToLong).fold(0L)(_.longValue)
        } yield Owner(ProcessId(host, boot, namespace, pid, start), id, operation, below, since)
      }
    } catch { case _: IOException => None }
}
