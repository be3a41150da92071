package org.sparkzorder.compat

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths}
import java.util.Optional

/** The processes of this machine. Java 9 has a class for them, which is called by its name here. */
object Processes {
  private val handles: Option[Class[_]] =
    try Some(Class.forName("java.lang.ProcessHandle"))
    catch { case _: ClassNotFoundException => None }

  def own: Long = ManagementFactory.getRuntimeMXBean.getName.takeWhile(_ != '@').toLong

  /**
   * When a process started. None if there is none, "" if its start is unknown.
   *
   * Java 8 has /proc instead: a process that it does not show is gone, if it shows those of others at all. Where it does
   * not, or a system has none, the process may be alive.
   */
  def start(pid: Long): Option[String] = handles match {
    case Some(ofJava) =>
      val found = ofJava.getMethod("of", classOf[Long]).invoke(null, Long.box(pid)).asInstanceOf[Optional[AnyRef]]
      if (!found.isPresent || !ofJava.getMethod("isAlive").invoke(found.get).asInstanceOf[Boolean]) None
      else {
        val info = ofJava.getMethod("info").invoke(found.get)
        val instant = Class.forName("java.lang.ProcessHandle$Info").getMethod("startInstant").invoke(info)
        Some(instant.asInstanceOf[Optional[AnyRef]].map[String](_.toString).orElse(""))
      }
    case None =>
      val showsOthers = Files.isReadable(Paths.get("/proc/1/stat"))
      if (showsOthers && !Files.exists(Paths.get(s"/proc/$pid"))) None else Some("")
  }
}
