package org.sparkzorder.commit.lock

/**
 * How locks are taken and judged.
 *
 * @param timeoutMillis age of a heartbeat at which its owner counts as dead
 *                      (`spark.zorder.lock.timeout`)
 * @param beatMillis time between two heartbeats
 * @param attempts how often to try for a lock that another has: two owners that come at once both
 *                 step back
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
