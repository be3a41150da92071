package org.sparkzorder.s3

import software.amazon.awssdk.services.s3.model.{ExpirationStatus, LifecycleRule}

/** Reads lifecycle rules of a bucket. */
private[s3] object UploadRules {

  /**
   * The shortest time after which a rule aborts an open upload of some key with this prefix. What
   * else a rule is limited to, such as tags, does not count: an upload has none yet.
   */
  def days(rules: Seq[LifecycleRule], prefix: String): Option[Int] =
    rules.filter(r => r.status == ExpirationStatus.ENABLED && overlap(prefixOf(r), prefix))
      .flatMap(r => Option(r.abortIncompleteMultipartUpload))
      .flatMap(a => Option(a.daysAfterInitiation))
      .map(_.intValue).minOption

  /** Whether a key may have both prefixes. */
  private def overlap(one: String, other: String): Boolean = one.startsWith(other) || other.startsWith(one)

  /** A rule has its prefix in one of three places, or none. */
  @annotation.nowarn("cat=deprecation")
  private def prefixOf(rule: LifecycleRule): String = {
    val inFilter =
      Option(rule.filter).flatMap(f => Option(f.prefix).orElse(Option(f.and).flatMap(a => Option(a.prefix))))
    inFilter.orElse(Option(rule.prefix)).getOrElse("")
  }
}
