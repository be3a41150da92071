package org.sparkzorder.commit

import java.io.IOException
import java.net.{InetAddress, UnknownHostException}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

/** What can be said of an owner without looking at its heartbeat. */
sealed trait ProcessState
object ProcessState {
  case object Alive extends ProcessState
  case object Gone extends ProcessState
  case object Unknown extends ProcessState
}

/** Tells whether the owner of a lock still lives. */
trait Liveness {

  /** The process that asks. */
  def self: ProcessId

  /** `Gone` only when it is certain; the heartbeat decides what is `Unknown`. */
  def processState(owner: Owner): ProcessState

  /** Told when an operation of this process starts and ends. */
  def register(operationId: String): Unit
  def deregister(operationId: String): Unit
}

/** By this host's process table, and for this process by the operations that it knows of. */
object SystemLiveness extends Liveness {

  private val Property = "org.sparkzorder.running.operations"

  /** In the registry, where its time stands: no operation has such an id. */
  private val Made = "made/"

  /**
   * The operations of this process: one map for the whole JVM, of types that all class loaders share, so that two
   * copies of this class, as of two jars, know of each other's. It also holds when it was made.
   */
  private def registry: java.util.Map[String, java.lang.Long] = System.getProperties.computeIfAbsent(
    Property,
    _ => {
      val made = new java.util.concurrent.ConcurrentHashMap[String, java.lang.Long]()
      made.put(Made, System.currentTimeMillis())
      made
    }
  ).asInstanceOf[java.util.Map[String, java.lang.Long]]

  /** Of this copy of the class alone: `System.setProperties` may lose the registry. */
  private val own = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  /** A lock that is older than the registry may be of an operation that it has lost. */
  private def ofThisProcess(owner: Owner): ProcessState = {
    val known = registry
    if (own.contains(owner.operationId) || known.containsKey(owner.operationId)) ProcessState.Alive
    else if (owner.since < known.get(Made)) ProcessState.Unknown
    else ProcessState.Gone
  }

  override lazy val self: ProcessId = {
    val pid = ProcessHandle.current().pid()
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

  /** None when there is no such process; "" when its start cannot be told. */
  private def start(pid: Long): Option[String] = {
    val stat = read(s"/proc/$pid/stat")
    if (stat.nonEmpty) {
      // The second field is the program's name in parentheses, which may hold blanks and parentheses itself.
      val fields = stat.substring(stat.lastIndexOf(')') + 1).trim.split(' ')
      // Field 3 is the state: a zombie runs no more. Field 22 counts clock ticks since boot, so no clock change moves
      // it.
      if (fields(0) == "Z" || fields(0) == "X") None else Some(fields.lift(19).getOrElse(""))
    } else {
      val handle = ProcessHandle.of(pid)
      if (!handle.isPresent || !handle.get.isAlive) None
      else Some(handle.get.info.startInstant.map[String](_.toString).orElse(""))
    }
  }

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
