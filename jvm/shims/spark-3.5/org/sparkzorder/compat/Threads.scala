package org.sparkzorder.compat

object Threads {

  /** A new thread that inherits what the thread that makes it has: Java 8 has no other. */
  def separate(work: Runnable, name: String): Thread = new Thread(null, work, name, 0)
}
