package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * The errors of this package, apart from plain I/O errors.
 *
 * @param condition the error condition that a statement fails with
 * @param told parameters of the condition, without the names of the table and of the statement. Without a `reason` it is
 *             the message of the first cause
 * @param isRefusal whether the statement, or the table, is wrong
 */
sealed abstract class CommitException(
    message: String,
    val condition: String = "ZORDER_OPERATION_FAILED.UNCHANGED",
    val told: Seq[(String, String)] = Nil,
    val isRefusal: Boolean = false,
    cause: Throwable = null
) extends RuntimeException(message, cause)

private object CommitException {
  def some(names: Seq[String]): String =
    names.take(5).mkString(", ") + (if (names.length > 5) s" and ${names.length - 5} more" else "")

  def somePaths(of: Seq[Path]): String = some(of.map(path))

  def path(of: Path): String = of.toUri.getPath

  def described(owner: Option[Owner]): String = owner.fold("its lock file cannot be read")(_.describe)
}

import CommitException._

/** A living owner has the table's lock. Nothing was touched. */
final class ConcurrentOperationException(val table: Path, val owner: Option[Owner]) extends CommitException(
      s"another operation is running on $table: ${described(owner)}",
      "ZORDER_CONCURRENT_OPERATION",
      Seq("owner" -> described(owner))
    )

/**
 * The lock file is gone, or its heartbeat failed for too long, so another process may have taken
 * over. We have touched nothing since.
 */
final class LockLostException(lock: Path, reason: String)
    extends CommitException(s"lost the table's lock $lock: $reason", "ZORDER_LOCK_LOST", Seq("reason" -> reason))

/**
 * Others changed files while the operation worked on them. The folders of these files stay as they are.
 *
 * @param files the files or folders in question, relative to the table's root
 */
class CommitConflictException(files: Seq[String], val reason: String, condition: String = "ZORDER_COMMIT_CONFLICT")
    extends CommitException(
      s"$reason: ${some(CommitConflictException.named(files))}",
      condition,
      Seq("paths" -> some(CommitConflictException.named(files)), "reason" -> reason)
    ) {
  val paths: Seq[String] = CommitConflictException.named(files)
}

object CommitConflictException {
  val Overwritten = "the whole table was overwritten"

  private def named(files: Seq[String]): Seq[String] = files.map(f => if (f.isEmpty) "." else f)
}

/** Others changed files at such a moment that rows may be there twice. Only a person knows which rows count. */
sealed abstract class RowsUnclearException(val table: Path, files: Seq[String], reason: String, condition: String)
    extends CommitConflictException(files, reason, s"ZORDER_TABLE_UNCLEAR.$condition")

/**
 * Others replaced or deleted inputs too late to take the operation back. It has ended, and the new files have the old
 * rows of these.
 */
final class InputsReplacedException(table: Path, files: Seq[String]) extends RowsUnclearException(
      table,
      files,
      "their rows were being exchanged, and the operation has ended",
      "INPUTS_REPLACED"
    )

/** Others changed new files that had come to their folder. The operation was taken back there, and these files stay. */
final class OutputsChangedException(table: Path, files: Seq[String])
    extends RowsUnclearException(table, files, "they stay beside the files of before", "OUTPUTS_CHANGED")

/** RESTORE to a version that the table never had. Nothing was touched. */
final class VersionNotFoundException(version: Long, val current: Long) extends CommitException(
      s"there is no version $version, the table is at version $current",
      "ZORDER_VERSION_NOT_FOUND.NUMBER",
      Seq("version" -> s"$version", "current" -> s"$current"),
      isRefusal = true
    )

/**
 * Why a table cannot go back to a version. Files that RESTORE would move to the trash were changed, and the changes would
 * be lost; or they are gone, with others that came to their folders since (`Beside`), or with nothing else in the way.
 * Retired files, or records of versions on the way, are not kept any more. Or files that would come back are damaged.
 */
sealed abstract class RestoreObstacle(val name: String)
object RestoreObstacle {
  case object Changed extends RestoreObstacle("CHANGED_FILES")
  case object Beside extends RestoreObstacle("FILES_BESIDE_LOST")
  case object Lost extends RestoreObstacle("LOST_FILES")
  case object Gone extends RestoreObstacle("FILES_GONE")
  case object Forgotten extends RestoreObstacle("FORGOTTEN_VERSIONS")
  case object Damaged extends RestoreObstacle("DAMAGED_FILES")
}

/**
 * RESTORE is not possible. Nothing was touched.
 *
 * @param paths the files in question, relative to the table's root
 */
final class NotRestorableException(val version: Long, val obstacle: RestoreObstacle, val paths: Seq[String])
    extends CommitException(
      s"no way back to version $version, $obstacle: ${paths.mkString(", ")}",
      s"ZORDER_CANNOT_RESTORE.${obstacle.name}",
      Seq("version" -> s"$version", "paths" -> some(paths)),
      isRefusal = obstacle != RestoreObstacle.Damaged
    )

object NotRestorableException {
  def refuse(version: Long, obstacle: RestoreObstacle, paths: Seq[String]): Unit =
    if (paths.nonEmpty) throw new NotRestorableException(version, obstacle, paths)
}

/** A record that is damaged, of a newer format, or names files that are not the table's. */
final class UnreadableRecordException(val file: Path, reason: String, cause: Throwable = null)
    extends CommitException(s"cannot read the record $file: $reason", cause = cause)

/**
 * The operation is past its commit point, but the file system failed, also when we tried to undo
 * it. The next statement on the table finishes or undoes it.
 */
final class IncompletePublishException(record: Path, cause: Throwable) extends CommitException(
      s"$record is committed but only published in part; the next statement on the table finishes or undoes it, and so " +
        "does `spark-zorder recover`",
      "ZORDER_OPERATION_FAILED.HALF_WAY",
      cause = cause
    )

/** Only a person can say how an operation ends in some folders. No file of theirs was touched. */
final class FoldersUnclearException(val table: Path, version: Long, val folders: Seq[UnclearFolder])
    extends CommitException(
      s"version $version of $table ended half way. ${folders.map(_.sentence).mkString(" ")}",
      "ZORDER_TABLE_UNCLEAR.RECOVERY",
      Seq("path" -> path(table), "details" -> folders.map(_.sentence).mkString(" "))
    )

/** Files are being exchanged, and we cannot see all of them. The visible files alone would be a wrong answer. */
final class HalfPublishedException(val table: Path, cause: java.io.IOException) extends CommitException(
      s"cannot read around an operation on $table that is half published: ${Option(cause.getMessage).getOrElse(cause)}",
      "ZORDER_RECOVERY_FAILED",
      cause = cause
    )

/**
 * Folders have markers of an operation that has ended elsewhere, and may have its old and new files side by side.
 * Nothing was touched.
 */
final class StrayMarkException(table: Path, val marks: Seq[Path]) extends CommitException(
      s"an operation on $table has ended, and left markers: ${marks.mkString(", ")}",
      "ZORDER_TABLE_UNCLEAR.STRAY_MARKERS",
      Seq("paths" -> somePaths(marks))
    )

/** Two tables share folders, and both have a history, an index or a lock. Nothing was touched. */
final class NestedTableException(val outer: Path, val inner: Path) extends CommitException(
      s"the table $inner is in a folder of the table $outer",
      "ZORDER_UNSAFE_TABLE.NESTED",
      Seq("outer" -> path(outer), "inner" -> path(inner)),
      isRefusal = true
    )

/** An unfinished operation must be recovered first. Nothing was touched. */
final class UnfinishedOperationException(records: Seq[Path])
    extends CommitException(s"an operation has come to no end: ${records.map(_.getName).mkString(", ")}")

/**
 * There are stale appends, but the rows that they were added to may have been replaced.
 *
 * @param folder that was overwritten
 */
final class StaleAppendsUnclearException(folder: Path, current: Path, val files: Seq[Path], reason: String)
    extends CommitException(
      s"files in $folder were written after the table had moved to $current, and $reason",
      "ZORDER_TABLE_UNCLEAR.STALE_APPENDS",
      Seq("folder" -> path(folder), "current" -> path(current), "reason" -> reason, "paths" -> somePaths(files))
    )

/**
 * A data file would move, or go, to which another file is tied by its name. Nothing was touched.
 *
 * @param beside the other file
 * @param hasKeys whether it has the data file's keys
 */
final class CompanionFileException(file: Path, beside: Path, hasKeys: Boolean, why: CompanionFileException.Reason)
    extends CommitException(
      s"${beside.getName} is tied to $file. ${why.sentence}",
      if (hasKeys) "ZORDER_UNSAFE_FILES.ENCRYPTED" else "ZORDER_UNSAFE_TABLE.TIED_FILES",
      if (hasKeys) Seq(
        "subject" -> s"The file ${path(file)} is encrypted",
        "reason" -> s"the material of its keys is in ${path(beside)}. ${why.sentence}",
        "hint" -> why.hint
      )
      else Seq("path" -> path(file), "beside" -> path(beside), "reason" -> why.sentence),
      isRefusal = true
    )

object CompanionFileException {

  /** @param hint what to do about keys. Both are without their ends */
  sealed abstract class Reason(val sentence: String, val hint: String)

  case object Moves extends Reason(
        "The statement would give that file, or its rows, another name or place, and leave the other behind",
        "Write these rows anew with `parquet.encryption.key.material.store.internally` = true, or leave them out with " +
          "WHERE"
      )

  case object Deletes extends Reason(
        "The statement would delete that file, which RESTORE could bring back to its name",
        "Run RESTORE, or delete the key material if these rows are not needed"
      )
}
