package org.sparkzorder.commit.lock

import java.io.IOException
import java.net.{InetAddress, UnknownHostException}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

import org.sparkzorder.commit.{Owner, ProcessId}
import org.sparkzorder.compat.Processes

/** Whether an owner's process runs, as far as this host can tell without the heartbeat. */
sealed trait ProcessState
object ProcessState {
  case object Alive extends ProcessState
  case object Gone extends ProcessState
  case object Unknown extends ProcessState
}

trait Liveness {

  def self: ProcessId

  /** `Gone` only when that is certain. If it is `Unknown`, the heartbeat decides. */
  def processState(owner: Owner): ProcessState

  def register(operationId: String): Unit
  def deregister(operationId: String): Unit
}

/** Judges other processes by this host's process table, and this process by the operations that it runs. */
object SystemLiveness extends Liveness {

  private val Property = "org.sparkzorder.running.operations"

  /** The key in the registry for the time at which it was made. No operation has such an id. */
  private val Made = "made/"

  /**
   * The operations of this process: one map for the whole JVM, of types that all class loaders share. So two copies of
   * this class, for example from two jars, know each other's operations. It also holds the time at which it was made.
   */
  private def registry: java.util.Map[String, java.lang.Long] = System.getProperties.computeIfAbsent(
    Property,
    _ => {
      val made = new java.util.concurrent.ConcurrentHashMap[String, java.lang.Long]()
      made.put(Made, System.currentTimeMillis())
      made
    }
  ).asInstanceOf[java.util.Map[String, java.lang.Long]]

  /** The operations of this copy of the class, because `System.setProperties` may lose the registry. */
  private val own = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  /** A lock that is older than the registry may belong to an operation that an earlier registry had. */
  private def ofThisProcess(owner: Owner): ProcessState = {
    val known = registry
    if (own.contains(owner.operationId) || known.containsKey(owner.operationId)) ProcessState.Alive
    else if (owner.since < known.get(Made)) ProcessState.Unknown
    else ProcessState.Gone
  }

  override lazy val self: ProcessId = {
    val pid = Processes.own
    ProcessId(
      hostName,
      read("/proc/sys/kernel/random/boot_id"),
      link("/proc/self/ns/pid"),
      pid,
      start(pid).getOrElse("")
    )
  }

  override def processState(owner: Owner): ProcessState =
    if (owner.process == self) ofThisProcess(owner)
    else if (!owner.process.sameHost(self)) ProcessState.Unknown
    else start(owner.process.pid) match {
      case Some(found) if found == owner.process.start || found.isEmpty || owner.process.start.isEmpty =>
        ProcessState.Unknown
      case _ => ProcessState.Gone
    }

  override def register(operationId: String): Unit = {
    own.add(operationId)
    registry.put(operationId, System.currentTimeMillis())
    ()
  }

  override def deregister(operationId: String): Unit = {
    own.remove(operationId)
    registry.remove(operationId)
    ()
  }

  /** When the process started. None when there is no such process, "" when the start is not known. */
  private def start(pid: Long): Option[String] = {
    val stat = read(s"/proc/$pid/stat")
    if (stat.nonEmpty) {
      // The second field is the program's name in parentheses, which may hold blanks and parentheses itself.
      val fields = stat.substring(stat.lastIndexOf(')') + 1).trim.split(' ')
      // Field 3 is the state; a zombie does not run any more. Field 22 is the start in clock ticks
      // since boot, which does not change with the clock.
      if (fields(0) == "Z" || fields(0) == "X") None else Some(fields.lift(19).getOrElse(""))
    } else if (hidesOthers) Some("")
    else Processes.start(pid)
  }

  /** Whether users see only their own processes, as with the mount option `hidepid`. */
  private def hidesOthers: Boolean =
    Files.exists(Paths.get("/proc/self/stat")) && !Files.isReadable(Paths.get("/proc/1/stat"))

  private def hostName: String =
    try InetAddress.getLocalHost.getHostName
    catch { case _: UnknownHostException => read("/proc/sys/kernel/hostname") }

  private def read(file: String): String =
    try new String(Files.readAllBytes(Paths.get(file)), ISO_8859_1).trim
    catch { case _: IOException => "" }

  private def link(file: String): String =
    try Files.readSymbolicLink(Paths.get(file)).toString
    catch { case _: IOException | _: UnsupportedOperationException => "" }
}

/**
 * How locks are taken and judged.
 *
 * @param timeoutMillis age of a heartbeat at which its owner counts as dead (`spark.zorder.lock.timeout`)
 * @param beatMillis time between two heartbeats
 * @param attempts how often to try for a lock that another has: two owners that come at once both step back
 * @param retryMillis least pause between attempts
 * @param lookMillis how long an owner may rely on its last look at its lock
 */
final case class LockSettings(
    timeoutMillis: Long = 60000L,
    beatMillis: Long = 5000L,
    attempts: Int = 3,
    retryMillis: Long = 50L,
    liveness: Liveness = SystemLiveness,
    sleep: Long => Unit = Thread.sleep(_),
    lookMillis: Long = 100L
)
