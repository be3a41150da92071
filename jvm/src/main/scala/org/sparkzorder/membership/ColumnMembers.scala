package org.sparkzorder.membership

import java.util.BitSet

/** Which values one column has in each of many files. Files are known by their ordinals. */
trait ColumnMembers {

  /** Whether what is known of a file is a Bloom filter. */
  def isFilter(file: Int): Boolean

  /**
   * Gives the values of a file, or None if they are not known. It is to be called for files in
   * ascending order, so that what lies together is read at once.
   *
   * @param wanted the files that may be asked for
   */
  def reader(wanted: BitSet): Int => Option[Membership]
}
