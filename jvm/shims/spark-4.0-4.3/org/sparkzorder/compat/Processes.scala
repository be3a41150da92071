package org.sparkzorder.compat

/** The processes of this machine. */
object Processes {
  def own: Long = ProcessHandle.current().pid()

  /** When a process started. None if there is none, "" if its start is unknown. */
  def start(pid: Long): Option[String] = {
    val handle = ProcessHandle.of(pid)
    if (!handle.isPresent || !handle.get.isAlive) None
    else Some(handle.get.info.startInstant.map[String](_.toString).orElse(""))
  }
}
