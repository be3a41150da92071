package org.sparkzorder.tool

/** How the tool's process ends. The result repeats it as `exitCode`. */
private[tool] object ExitCode {
  val Done = 0
  val Failed = 1

  /** A living owner has the lock. */
  val Locked = 3
}
