package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * The errors of this package, apart from plain I/O errors. Commands turn them into Spark's errors.
 */
sealed abstract class CommitException(message: String, cause: Throwable) extends RuntimeException(message, cause)

/** A living owner has the table's lock. Nothing was touched. */
final class ConcurrentOperationException(val table: Path, val owner: Option[Owner])
    extends CommitException(
      s"another operation is running on $table: ${owner.fold("its lock file cannot be read")(_.describe)}",
      null
    )

/**
 * The lock file is gone, or its heartbeat failed for too long, so another process may have taken
 * over. We have touched nothing since.
 */
final class LockLostException(val lock: Path, val reason: String)
    extends CommitException(s"lost the table's lock $lock: $reason", null)

/**
 * Others changed files while the operation worked on them. The folders of these files stay as they are.
 *
 * @param files the files or folders in question, relative to the table's root
 */
class CommitConflictException(files: Seq[String], val reason: String)
    extends CommitException(
      s"$reason: ${CommitConflictException.named(files.take(5)).mkString(", ")}" +
        (if (files.length > 5) s" and ${files.length - 5} more" else ""),
      null
    ) {
  val paths: Seq[String] = CommitConflictException.named(files)
}

/**
 * Others replaced or deleted inputs too late to take the operation back. It has ended, and the new files have the old
 * rows of these. Only a person knows which rows count.
 */
final class InputsReplacedException(val table: Path, paths: Seq[String])
    extends CommitConflictException(paths, "their rows were being exchanged, and the operation has ended")

object CommitConflictException {
  val Overwritten = "the whole table was overwritten"

  private def named(files: Seq[String]): Seq[String] = files.map(f => if (f.isEmpty) "." else f)
}

/**
 * A lifecycle rule of the store may have aborted uploads of new files. Nothing was touched.
 *
 * @param days after which the rule aborts an upload
 * @param hours that the operation has run
 */
final class UploadsExpiredException(val days: Int, val hours: Long)
    extends CommitException(s"after $hours hours uploads may be gone: a rule aborts them after $days days", null)

/** RESTORE to a version that the table never had. Nothing was touched. */
final class VersionNotFoundException(val version: Long, val current: Long)
    extends CommitException(s"there is no version $version, the table is at version $current", null)

/**
 * RESTORE is not possible. Nothing was touched.
 *
 * @param paths the files in question, relative to the table's root
 */
final class NotRestorableException(val version: Long, val obstacle: RestoreObstacle, val paths: Seq[String])
    extends CommitException(s"no way back to version $version, $obstacle: ${paths.mkString(", ")}", null)

object NotRestorableException {
  def refuse(version: Long, obstacle: RestoreObstacle, paths: Seq[String]): Unit =
    if (paths.nonEmpty) throw new NotRestorableException(version, obstacle, paths)
}

/** A record that is damaged, of a newer format, or names files that are not the table's. */
final class UnreadableRecordException(val file: Path, reason: String, cause: Throwable = null)
    extends CommitException(s"cannot read the record $file: $reason", cause)

/**
 * The operation is past its commit point, but the file system failed, also when we tried to undo
 * it. The next statement on the table finishes or undoes it.
 */
final class IncompletePublishException(val record: Path, cause: Throwable)
    extends CommitException(
      s"$record is committed but only published in part; the next statement on the table finishes or undoes it, and so " +
        "does `spark-zorder recover`",
      cause
    )

/** Only a person can say how an operation ends in some folders. No file of theirs was touched. */
final class FoldersUnclearException(val table: Path, val version: Long, val folders: Seq[UnclearFolder])
    extends CommitException(
      s"version $version of $table ended half way. ${folders.map(_.sentence).mkString(" ")}",
      null
    )

/**
 * Files are being exchanged, and we cannot see all of them. The visible files alone would be a
 * wrong answer.
 */
final class HalfPublishedException(val table: Path, cause: java.io.IOException)
    extends CommitException(
      s"cannot read around an operation on $table that is half published: ${Option(cause.getMessage).getOrElse(cause)}",
      cause
    )

/**
 * Folders have markers of an operation that has ended elsewhere, and may have its old and new files side by side.
 * Nothing was touched.
 */
final class StrayMarkException(val table: Path, val marks: Seq[Path])
    extends CommitException(s"an operation on $table has ended, and left markers: ${marks.mkString(", ")}", null)

/** Two tables share folders, and both have a history, an index or a lock. Nothing was touched. */
final class NestedTableException(val outer: Path, val inner: Path)
    extends CommitException(s"the table $inner is in a folder of the table $outer", null)

/** An unfinished operation must be recovered first. Nothing was touched. */
final class UnfinishedOperationException(val records: Seq[Path])
    extends CommitException(s"an operation has come to no end: ${records.map(_.getName).mkString(", ")}", null)

/**
 * There are stale appends, but the rows that they were added to may have been replaced.
 *
 * @param folder that was overwritten
 */
final class StaleAppendsUnclearException(val folder: Path, val current: Path, val files: Seq[Path], val reason: String)
    extends CommitException(s"files in $folder were written after the table had moved to $current, and $reason", null)

/**
 * A data file would move, or go, to which another file is tied by its name. Nothing was touched.
 *
 * @param beside the other file
 */
final class TiedFileException(val file: Path, val beside: Path, val why: TiedFileException.Reason)
    extends CommitException(s"${beside.getName} is tied to $file. ${why.sentence}", null)

object TiedFileException {

  /** @param sentence without its end */
  sealed abstract class Reason(val sentence: String)

  case object Moves
      extends Reason(
        "The statement would give that file, or its rows, another name or place, and leave the other behind"
      )

  case object Deletes extends Reason("The statement would delete that file, which RESTORE could bring back to its name")
}
