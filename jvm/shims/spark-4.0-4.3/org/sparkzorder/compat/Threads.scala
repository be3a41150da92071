package org.sparkzorder.compat

object Threads {

  /** A new thread that does not inherit the values of the thread that makes it. */
  def separate(work: Runnable, name: String): Thread = new Thread(null, work, name, 0, false)
}
