package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.sparkzorder.codec.Json

/**
 * A process, described so that another on the same host can tell whether it still runs.
 *
 * @param host host name; only if it, the boot id and the pid namespace agree, a pid means the same process
 * @param start when the process started, because pids are used again; it can only be compared for equality
 */
final case class ProcessId(host: String, bootId: String, pidNamespace: String, pid: Long, start: String) {
  def sameHost(other: ProcessId): Boolean =
    host == other.host && bootId == other.bootId && pidNamespace == other.pidNamespace
}

/**
 * The owner of a lock: a process, and the operation that it runs.
 *
 * @param since when the lock was taken, by the process's own clock, milliseconds since 1970; 0 if the file does not say
 */
final case class Owner(process: ProcessId, operationId: String, operation: String, since: Long = 0L) {
  def describe: String = s"$operation $operationId of process ${process.pid} on ${process.host}"
}

object Owner {

  /** The most bytes of a lock file. A larger file is not ours. */
  val ReadLimit: Long = 65536L

  private final case class Text(
      host: String,
      bootId: String,
      pidNamespace: String,
      pid: Long,
      start: String,
      operationId: String,
      operation: String,
      since: Option[java.lang.Long]
  )

  def write(owner: Owner): Array[Byte] = {
    val p = owner.process
    import owner._
    Json.write(Text(p.host, p.bootId, p.pidNamespace, p.pid, p.start, operationId, operation, Some(Long.box(since))))
  }

  /** The bytes of a lock file as a listing shows it; None when it is gone, or too large to be one. */
  def bytes(ops: FileOps, lock: FileMeta): Option[Array[Byte]] =
    if (lock.length > ReadLimit) None
    else {
      try Some(ops.read(lock.path, ReadLimit))
      catch { case _: FileNotFoundException => None }
    }

  /** The owner in a lock file; None when the file is gone, is not ours, or was not written in full. */
  def read(ops: FileOps, lock: FileMeta): Option[Owner] = bytes(ops, lock).flatMap(parse)
  def isUnfinished(bytes: Array[Byte]): Boolean = !bytes.lastOption.contains('}'.toByte)

  /** None when it is no lock file of ours, or not yet written in full. */
  def parse(bytes: Array[Byte]): Option[Owner] = Json.parse(bytes, classOf[Text]).map { t =>
    Owner(
      ProcessId(t.host, t.bootId, t.pidNamespace, t.pid, t.start),
      t.operationId,
      t.operation,
      t.since.fold(0L)(_.longValue)
    )
  }
}
