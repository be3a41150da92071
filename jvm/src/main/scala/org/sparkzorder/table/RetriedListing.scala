package org.sparkzorder.table

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.util.{Failure, Try}

/**
 * Spark lists a folder and then asks one of the files for the schema. An operation that publishes takes listed files away
 * in between, and the look fails. Then the folder is listed again: one exchange is over soon, and after that the new
 * files are there.
 */
object RetriedListing {

  /** So many exchanges in a row are no accident. */
  private val Listings = 20

  /** @param look lists and looks; what it throws for another reason than a missing file is thrown at once */
  def apply[T](look: => T): T = {
    @tailrec def attempt(left: Int): T = Try(look) match {
      case Failure(e) if left > 0 && isOfMissingFile(e) => attempt(left - 1)
      case result                                       => result.get
    }
    attempt(Listings)
  }

  private def isOfMissingFile(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).exists(_.isInstanceOf[FileNotFoundException])
}
