package org.sparkzorder.memory

/** How many filters are remembered, and an estimate of the bytes that they take. */
final case class MemorySize(filters: Int, bytes: Long)
