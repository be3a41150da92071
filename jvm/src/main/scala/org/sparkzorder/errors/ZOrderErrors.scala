package org.sparkzorder.errors

import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}

/**
 * Makes all our errors, one method for each. No other code knows the names of the conditions. Names
 * of columns come as plain text, and messages quote them.
 */
object ZOrderErrors {

  private def analysis(condition: String, parameters: (String, String)*): ZOrderAnalysisException =
    new ZOrderAnalysisException(condition, parameters.toMap)

  private def runtime(condition: String, cause: Throwable, parameters: (String, String)*): Throwable =
    new ZOrderRuntimeException(condition, parameters.toMap, cause)

  private def failed(
      condition: String,
      operation: String,
      target: String,
      cause: Throwable,
      more: (String, String)*
  ): Throwable = runtime(condition, cause, more :+ ("operation" -> operation) :+ ("table" -> target): _*)

  private def ofFiles(
      condition: String,
      target: String,
      paths: Seq[String],
      cause: Throwable,
      more: (String, String)*
  ): Throwable = runtime(condition, cause, more :+ ("table" -> target) :+ ("paths" -> some(paths)): _*)

  private def list(names: Seq[String]): String = names.map(quoteIdentifier).mkString(", ")

  /** @param known the columns that there are, or the fields of a struct */
  def columnNotFound(column: Seq[String], known: Seq[Seq[String]]): Throwable = analysis(
    "ZORDER_COLUMN_NOT_FOUND",
    "column" -> quoteNameParts(column),
    "columns" -> known.map(quoteNameParts).mkString(", ")
  )

  def duplicateColumn(column: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_COLUMN.DUPLICATE", "column" -> quoteNameParts(column))

  def partitionColumn(column: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_COLUMN.PARTITION_COLUMN", "column" -> quoteNameParts(column))

  def unsupportedColumnType(column: Seq[String], dataType: String): Throwable =
    analysis("ZORDER_INVALID_COLUMN.TYPE", "column" -> quoteNameParts(column), "type" -> dataType)

  /** @param tables that have the column */
  def ambiguousColumn(column: Seq[String], tables: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_COLUMN.AMBIGUOUS", "column" -> quoteNameParts(column), "tables" -> tables.mkString(", "))

  def joinWithoutLayout(dimension: Seq[String]): Throwable = invalidJoin("WITHOUT_LAYOUT", dimension)

  def unusedJoin(dimension: Seq[String]): Throwable = invalidJoin("UNUSED", dimension)

  def joinCondition(dimension: Seq[String], reason: String): Throwable =
    invalidJoin("CONDITION", dimension, "reason" -> reason)

  def refusedDimension(dimension: Seq[String], reason: String): Throwable =
    invalidJoin("DIMENSION", dimension, "reason" -> reason)

  /** @param value a key that several rows have */
  def doubledKey(dimension: Seq[String], key: Seq[String], value: String, rows: Long): Throwable =
    invalidJoin("DOUBLED_KEY", dimension, "key" -> quoteNameParts(key), "value" -> value, "rows" -> rows.toString)

  def unreadableDimension(dimension: Seq[String], cause: Throwable): Throwable = new ZOrderAnalysisException(
    "ZORDER_INVALID_JOIN.UNREADABLE",
    Map("dimension" -> quoteNameParts(dimension), "reason" -> rootMessage(cause).stripSuffix(".")),
    Some(cause)
  )

  private def invalidJoin(condition: String, dimension: Seq[String], more: (String, String)*): Throwable =
    analysis(s"ZORDER_INVALID_JOIN.$condition", more :+ ("dimension" -> quoteNameParts(dimension)): _*)

  def valuesNotKept(column: Seq[String], dataType: String): Throwable =
    analysis("ZORDER_INVALID_COLUMN.VALUES", "column" -> quoteNameParts(column), "type" -> dataType)

  def invalidWeight(column: Seq[String], weight: String): Throwable =
    analysis("ZORDER_INVALID_COLUMN.WEIGHT", "column" -> quoteNameParts(column), "weight" -> weight)

  def weightInSort(column: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_COLUMN.WEIGHT_IN_SORT", "column" -> quoteNameParts(column))

  def unknownOption(key: String, known: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_OPTION.UNKNOWN", "option" -> key, "options" -> list(known))

  def duplicateOption(key: String): Throwable = analysis("ZORDER_INVALID_OPTION.DUPLICATE", "option" -> key)

  def invalidOptionValue(key: String, value: String, expected: String): Throwable =
    analysis("ZORDER_INVALID_OPTION.VALUE", "option" -> key, "value" -> value, "expected" -> expected)

  def optionOfBytesMapping(key: String): Throwable = analysis("ZORDER_INVALID_OPTION.BYTES_MAPPING", "option" -> key)

  def invalidProperty(table: String, property: String, value: String, expected: String): Throwable = analysis(
    "ZORDER_INVALID_PROPERTY",
    "table" -> table,
    "property" -> property,
    "value" -> value,
    "expected" -> expected
  )

  def optionOfLayout(key: String): Throwable = analysis("ZORDER_INVALID_OPTION.WITHOUT_LAYOUT", "option" -> key)

  def curveOfBytesMapping(curve: String): Throwable =
    analysis(
      "ZORDER_INVALID_OPTION.MAPPING_OF_CURVE",
      "option" -> "mapping",
      "curve" -> curve.toUpperCase(java.util.Locale.ROOT)
    )

  def weightInBytesMapping(column: Seq[String]): Throwable =
    analysis("ZORDER_INVALID_COLUMN.WEIGHT_IN_BYTES_MAPPING", "column" -> quoteNameParts(column))

  def whereOnDataColumn(column: String, partitionColumns: Seq[String]): Throwable =
    if (partitionColumns.isEmpty)
      analysis("ZORDER_INVALID_WHERE.WITHOUT_PARTITIONS", "column" -> quoteIdentifier(column))
    else
      analysis(
        "ZORDER_INVALID_WHERE.DATA_COLUMN",
        "column" -> quoteIdentifier(column),
        "columns" -> list(partitionColumns)
      )

  def invalidWhere(predicate: String, reason: String): Throwable =
    analysis("ZORDER_INVALID_WHERE.PREDICATE", "predicate" -> predicate, "reason" -> reason)

  def tableNotFound(target: String): Throwable = analysis("ZORDER_TABLE_NOT_FOUND", "table" -> target)

  def pathNotFound(path: String): Throwable = analysis("ZORDER_PATH_NOT_FOUND", "path" -> path)

  def pathUnreadable(path: String, cause: Throwable): Throwable =
    new ZOrderAnalysisException(
      "ZORDER_PATH_UNREADABLE",
      Map("path" -> path, "reason" -> rootMessage(cause)),
      Some(cause)
    )

  def unsupportedTarget(target: String, kind: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.KIND", "table" -> target, "kind" -> kind)

  def bucketedTable(target: String): Throwable = analysis("ZORDER_UNSAFE_TABLE.BUCKETED", "table" -> target)

  def bucketFile(target: String, path: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.BUCKET_FILE", "table" -> target, "path" -> path)

  def missingColumn(target: String, path: String, column: String): Throwable =
    analysis(
      "ZORDER_UNSAFE_FILES.MISSING_COLUMN",
      "table" -> target,
      "path" -> path,
      "column" -> quoteIdentifier(column)
    )

  def unknownType(target: String, path: String, column: Seq[String], reason: String): Throwable = analysis(
    "ZORDER_UNSUPPORTED_TARGET.UNKNOWN_TYPE",
    "table" -> target,
    "path" -> path,
    "column" -> quoteNameParts(column),
    "reason" -> reason
  )

  /**
   * @param path of a file that has the column inside
   * @param other a file that lacks it; None if all files have it, and the table's schema does not
   */
  def partitionColumnInFiles(target: String, path: String, column: String, other: Option[String]): Throwable =
    analysis(
      "ZORDER_UNSAFE_FILES.PARTITION_COLUMN",
      "table" -> target,
      "path" -> path,
      "column" -> quoteIdentifier(column),
      "reason" -> other.fold("the table's schema has it only as the folders' names")(o => s"the file $o does not"),
      "hint" -> other.fold("Name the folder by its path, which keeps the column as it is in the files")(_ =>
        "Name the folder by its path, and take with WHERE only partitions whose files agree"
      )
    )

  def otherTableFormat(path: String, format: String, marker: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT", "path" -> path, "format" -> format, "marker" -> marker)

  def emptyTable(target: String): Throwable = analysis("ZORDER_UNSUPPORTED_TARGET.EMPTY", "table" -> target)

  def singleFile(target: String): Throwable = analysis("ZORDER_UNSUPPORTED_TARGET.SINGLE_FILE", "table" -> target)

  def notDataFile(path: String, format: String, reason: String): Throwable =
    analysis("ZORDER_NOT_A_DATA_FILE", "path" -> path, "format" -> format, "reason" -> reason)

  /** @param right the target as the statement should name it */
  def wrongFormat(target: String, path: String, found: String, right: String): Throwable =
    analysis(
      "ZORDER_UNSUPPORTED_TARGET.WRONG_FORMAT",
      "table" -> target,
      "path" -> path,
      "found" -> found,
      "right" -> right
    )

  def mixedFormats(path: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.MIXED_FORMATS", "path" -> path, "target" -> s"parquet.${quoteIdentifier(path)}")

  def nestedTable(target: String, outer: String, inner: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.NESTED", "target" -> target, "outer" -> outer, "inner" -> inner)

  def partitionFolder(path: String, table: String, where: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.PARTITION_FOLDER", "path" -> path, "table" -> table, "where" -> where)

  def noWritePermission(path: String, cause: Throwable): Throwable = {
    val reason =
      if (Option(cause.getMessage).exists(_.contains("Read-only file system")))
        "its file system is mounted read-only. Mount it for writing first"
      else "this user has not the right"
    new ZOrderAnalysisException("ZORDER_NO_WRITE_PERMISSION", Map("path" -> path, "reason" -> reason), Some(cause))
  }

  /** @param anySchema whether no schema of the table would help */
  def schemaDrift(file: String, column: String, reason: String, anySchema: Boolean): Throwable = {
    val hint =
      if (anySchema) "Leave the file's partition out with WHERE"
      else "Give the table a schema with the columns and types of its files"
    analysis("ZORDER_UNSAFE_FILES.SCHEMA_DRIFT", "path" -> file, "column" -> column, "reason" -> reason, "hint" -> hint)
  }

  def summaryFile(target: String, path: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.SUMMARY_FILE", "table" -> target, "path" -> path)

  def partitionOutsideTable(partition: String, root: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.PARTITION_OUTSIDE", "partition" -> partition, "root" -> root)

  /** @param folder that would be made */
  def publishBeside(target: String, folder: String, reason: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.FOLDER_BESIDE", "table" -> target, "folder" -> folder, "reason" -> reason)

  /**
   * @param now the table's location
   * @param partition a folder that an operation on `root` made
   */
  def locationChanged(target: String, now: String, partition: String, root: String): Throwable = analysis(
    "ZORDER_TABLE_UNCLEAR.LOCATION_CHANGED",
    "table" -> target,
    "location" -> now,
    "partition" -> partition,
    "root" -> root
  )

  /**
   * @param current the folder that the catalog names
   * @param version that left it
   * @param newer the folder to which the rows had moved
   * @param isNamed whether the catalog names that one, too
   * @param moved the names of the files in the current folder whose rows had moved
   * @param root the folder with the history
   */
  def locationSetBack(
      target: String,
      current: String,
      version: Long,
      newer: String,
      isNamed: Boolean,
      moved: Seq[String],
      root: String
  ): Throwable = analysis(
    "ZORDER_TABLE_UNCLEAR.LOCATION_SET_BACK",
    "table" -> target,
    "current" -> current,
    "version" -> version.toString,
    "newer" -> newer,
    "how" -> {
      val back = s"If the rows in $newer count, run ALTER TABLE .. SET LOCATION '$newer'."
      def remove = s"emove what had moved (${some(moved)}) from $current"
      if (moved.isEmpty) s"$back If not, remove the files in $newer."
      else if (isNamed) s"The catalog names that one, too. R$remove."
      else
        s"$back If not, r$remove, and all files in $newer. Or run `spark-zorder uninstall $root`: then the history is " +
          s"gone, and all files in $current count."
    }
  )

  /** @param how what to do */
  def publishWay(target: String, now: String, asked: String, how: String): Throwable =
    analysis(
      "ZORDER_UNSUPPORTED_COMMIT_MODE.OTHER_MODE",
      "table" -> target,
      "now" -> now,
      "asked" -> asked,
      "how" -> how
    )

  def publishNeedsCatalog(target: String, reason: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.NEEDS_CATALOG", "table" -> target, "reason" -> reason)

  def publishFolder(target: String, folder: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.FILES_ELSEWHERE", "table" -> target, "path" -> folder)

  def tableMoved(target: String, now: String): Throwable =
    analysis("ZORDER_TABLE_MOVED", "table" -> target, "path" -> now)

  def publishedByCatalog(path: String): Throwable = analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.PATH", "path" -> path)

  def streamOfCatalogTable(path: String): Throwable = analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.STREAM", "path" -> path)

  def sharedLocation(target: String, other: String, location: String, folder: String): Throwable = analysis(
    "ZORDER_UNSUPPORTED_COMMIT_MODE.SHARED_LOCATION",
    "table" -> target,
    "other" -> other,
    "location" -> location,
    "folder" -> folder
  )

  /** @param reason why it cannot be told whether the rows of the files count */
  def lateFilesUnclear(
      target: String,
      folder: Path,
      current: Path,
      files: Seq[Path],
      reason: String,
      cause: Throwable
  ): Throwable = {
    val folders = Seq("folder" -> folder.toUri.getPath, "current" -> current.toUri.getPath, "reason" -> reason)
    ofFiles("ZORDER_TABLE_UNCLEAR.STALE_APPENDS", target, files.map(_.toUri.getPath), cause, folders: _*)
  }

  /** @param real the folder that both are; None if the second is inside the first */
  def sharedFolder(target: String, one: String, other: String, real: Option[String]): Throwable = {
    val how = real.fold("the second is a folder inside the first")(r => s"both are the folder $r")
    val hint =
      if (real.isEmpty) "Move the files of the second into the first, or out of it"
      else "Remove the link, or give one of the two another location (dropping one may delete the files of both)"
    val names = Seq("table" -> target, "one" -> one, "other" -> other)
    analysis("ZORDER_UNSAFE_TABLE.SHARED_FOLDER", names :+ ("how" -> how) :+ ("hint" -> hint): _*)
  }

  def linkedFiles(target: String, first: String, count: Int): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.LINKED_FILES", "table" -> target, "path" -> first, "count" -> count.toString)

  def unsafeOption(target: String, option: String, value: String, reason: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.OPTION", "table" -> target, "option" -> option, "value" -> value, "reason" -> reason)

  def nanoseconds(path: String, column: Seq[String], option: String): Throwable =
    analysis("ZORDER_UNSAFE_FILES.NANOSECONDS", "path" -> path, "column" -> quoteNameParts(column), "option" -> option)

  /**
   * @param zone of the writer if it has the clock twice, else of Spark's JVMs
   * @param twice whether the zone has the clock twice, or not at all
   */
  def ambiguousClock(path: String, column: Seq[String], zone: String, twice: Boolean): Throwable = {
    val (reason, start) =
      if (twice) (s"exists twice in $zone, the time zone of the file", zone)
      else (s"does not exist in $zone, the time zone of Spark's JVMs", "UTC")
    analysis(
      "ZORDER_UNSAFE_FILES.AMBIGUOUS_CLOCK",
      "path" -> path,
      "column" -> quoteNameParts(column),
      "reason" -> reason,
      "zone" -> start
    )
  }

  /** @param what of the file is encrypted */
  def encryptedFiles(path: String, what: String): Throwable = encrypted(
    s"The file $path is encrypted ($what)",
    "the files written in its place would not be",
    "Give the table, or the session, the same encryption settings as its writer had " +
      "(`parquet.crypto.factory.class` and what belongs to it), or leave these files out. " +
      "Encrypted ORC files are not rewritten"
  )

  /** @param reason what Parquet says */
  def notDecrypted(path: String, reason: String): Throwable = encrypted(
    s"The file $path is encrypted",
    s"this session has no key that opens it (${reason.stripSuffix(".")})",
    "Give the table, or the session, the settings with which it can be read (`parquet.crypto.factory.class` and " +
      "what belongs to it), then run the statement again"
  )

  /**
   * @param what a sentence about what the statement would do
   * @param isRetired whether VACUUM would delete the file
   */
  def keyMaterialBeside(path: String, beside: String, what: String, isRetired: Boolean): Throwable = encrypted(
    s"The file $path is encrypted",
    s"the material of its keys is in $beside. $what",
    if (isRetired) "Run RESTORE, or delete the key material if these rows are not needed"
    else
      "Write these rows anew with `parquet.encryption.key.material.store.internally` = true, or leave them out with WHERE"
  )

  /** @param setting that keeps the material outside */
  def keyMaterialOutside(target: String, setting: String): Throwable = encrypted(
    s"The setting `$setting` is false",
    s"Parquet would write key material of new files of $target that is tied to the names they have while they are written",
    "Set it to true for this statement, in the session or in the options of the table"
  )

  private def encrypted(subject: String, reason: String, hint: String): Throwable =
    analysis("ZORDER_UNSAFE_FILES.ENCRYPTED", "subject" -> subject, "reason" -> reason, "hint" -> hint)

  /** @param what a sentence about what the statement would do */
  def tiedFile(target: String, path: String, beside: String, what: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.TIED_FILES", "table" -> target, "path" -> path, "beside" -> beside, "reason" -> what)

  def excludedColumn(column: Seq[String], property: String): Throwable =
    analysis(
      "ZORDER_INVALID_COLUMN.EXCLUDED",
      "column" -> quoteNameParts(column),
      "property" -> quoteIdentifier(property)
    )

  def indexExists(target: String): Throwable = analysis("ZORDER_INDEX_EXISTS", "table" -> target)

  def indexNotFound(target: String): Throwable = analysis("ZORDER_INDEX_NOT_FOUND", "table" -> target)

  def noWorkload(target: String, reason: String): Throwable =
    analysis("ZORDER_NO_WORKLOAD", "table" -> target, "reason" -> reason)

  def hotRangesWithoutAuto: Throwable = analysis("ZORDER_INVALID_OPTION.WITHOUT_AUTO", "option" -> "hot-ranges")

  def tooManyColumns(named: Int, most: Int): Throwable =
    analysis("ZORDER_TOO_MANY_COLUMNS", "given" -> named.toString, "most" -> most.toString)

  def hintPartitions(hint: String, asked: String, most: Int): Throwable =
    analysis("ZORDER_INVALID_HINT.PARTITIONS", "hint" -> hint, "given" -> asked, "most" -> most.toString)

  def hintParameter(hint: String, parameter: String, reason: String): Throwable =
    analysis("ZORDER_INVALID_HINT.PARAMETER", "hint" -> hint, "parameter" -> parameter, "reason" -> reason)

  def hintWithoutColumns(hint: String): Throwable = analysis("ZORDER_INVALID_HINT.WITHOUT_COLUMNS", "hint" -> hint)

  def hintOnStream(hint: String): Throwable = analysis("ZORDER_INVALID_HINT.ON_STREAM", "hint" -> hint)

  def noExtension(hint: String): Throwable = analysis("ZORDER_INVALID_HINT.NO_EXTENSION", "hint" -> hint)

  def versionNotFound(target: String, version: Long, current: Long): Throwable =
    analysis("ZORDER_VERSION_NOT_FOUND.NUMBER", "table" -> target, "version" -> s"$version", "current" -> s"$current")

  def invalidTime(text: String): Throwable = analysis("ZORDER_INVALID_TIME", "time" -> text)

  /** @param oldest the oldest version in the history */
  def timeBeforeHistory(target: String, text: String, oldest: Long): Throwable =
    analysis("ZORDER_VERSION_NOT_FOUND.BEFORE_HISTORY", "table" -> target, "time" -> text, "oldest" -> oldest.toString)

  def restoreChangedFiles(target: String, version: Long, paths: Seq[String]): Throwable =
    notRestorable("ZORDER_CANNOT_RESTORE.CHANGED_FILES", target, version, paths)

  def restoreFilesBesideLost(target: String, version: Long, paths: Seq[String]): Throwable =
    notRestorable("ZORDER_CANNOT_RESTORE.FILES_BESIDE_LOST", target, version, paths)

  def restoreLostFiles(target: String, version: Long, paths: Seq[String]): Throwable =
    notRestorable("ZORDER_CANNOT_RESTORE.LOST_FILES", target, version, paths)

  def restoreFilesGone(target: String, version: Long, paths: Seq[String]): Throwable =
    notRestorable("ZORDER_CANNOT_RESTORE.FILES_GONE", target, version, paths)

  def restoreForgottenVersions(target: String, version: Long, versions: Seq[String]): Throwable =
    notRestorable("ZORDER_CANNOT_RESTORE.FORGOTTEN_VERSIONS", target, version, versions)

  def restoreDamagedFiles(target: String, version: Long, paths: Seq[String], cause: Throwable): Throwable =
    ofFiles("ZORDER_CANNOT_RESTORE.DAMAGED_FILES", target, paths, cause, "version" -> version.toString)

  private def notRestorable(condition: String, target: String, version: Long, paths: Seq[String]): Throwable =
    analysis(condition, "table" -> target, "version" -> version.toString, "paths" -> some(paths))

  private def some(paths: Seq[String]): String =
    paths.take(5).mkString(", ") + (if (paths.size > 5) s" and ${paths.size - 5} more" else "")

  def concurrentOperation(target: String, owner: String): Throwable =
    runtime("ZORDER_CONCURRENT_OPERATION", null, "table" -> target, "owner" -> owner)

  def commitConflict(target: String, paths: Seq[String], reason: String, cause: Throwable): Throwable =
    ofFiles("ZORDER_COMMIT_CONFLICT", target, paths, cause, "reason" -> reason)

  /** The operation has ended, so this is no conflict after which the statement can be run again. */
  def inputsReplaced(target: String, paths: Seq[String], cause: Throwable): Throwable =
    ofFiles("ZORDER_TABLE_UNCLEAR.INPUTS_REPLACED", target, paths, cause)

  /** @param paths of the markers */
  def strayMarkers(target: String, paths: Seq[String], cause: Throwable): Throwable =
    ofFiles("ZORDER_TABLE_UNCLEAR.STRAY_MARKERS", target, paths, cause)

  def lockLost(operation: String, target: String, reason: String, cause: Throwable): Throwable =
    failed("ZORDER_LOCK_LOST", operation, target, cause, "reason" -> reason)

  /** @param told one sentence for each folder */
  def recoveryUnclear(target: String, path: String, told: Seq[String], cause: Throwable): Throwable =
    runtime("ZORDER_TABLE_UNCLEAR.RECOVERY", cause, "table" -> target, "path" -> path, "details" -> told.mkString(" "))

  def recoveryFailed(target: String, cause: Throwable): Throwable =
    runtime("ZORDER_RECOVERY_FAILED", cause, "table" -> target, "reason" -> rootMessage(cause))

  def halfPublished(table: String, seconds: Long): Throwable =
    runtime("ZORDER_HALF_PUBLISHED", null, "table" -> table, "seconds" -> seconds.toString)

  /** @param paths that the query names, or a pattern in it */
  def filesReplaced(paths: Seq[String]): Throwable =
    runtime("ZORDER_FILES_REPLACED", null, "paths" -> some(paths))

  /** @param paths names of the table's files whose rows the stream has not read yet */
  def streamFilesGone(stream: String, paths: Seq[String]): Throwable =
    runtime("ZORDER_STREAM_FAILED.FILES_GONE", null, "path" -> stream, "paths" -> some(paths))

  /**
   * @param file written by OPTIMIZE
   * @param lost a file that the stream has seen, and that does not exist any more
   */
  def streamUnknownFile(stream: String, file: String, lost: String): Throwable =
    runtime("ZORDER_STREAM_FAILED.UNKNOWN_FILE", null, "path" -> stream, "file" -> file, "lost" -> lost)

  def incompletePublish(operation: String, target: String, cause: Throwable): Throwable =
    failed("ZORDER_OPERATION_FAILED.HALF_WAY", operation, target, cause, "reason" -> rootMessage(cause))

  /**
   * @param stored number of rows by the footers of a folder's files
   * @param read number of rows that the scan returned
   * @param written number of rows that the writers got
   * @param found number of rows by the footers of the new files
   */
  def countMismatch(target: String, folder: String, stored: Long, read: Long, written: Long, found: Long): Throwable = {
    val rows = Seq("stored" -> s"$stored", "read" -> s"$read", "written" -> s"$written", "found" -> s"$found")
    runtime("ZORDER_VERIFICATION_FAILED.ROW_COUNT", null, rows :+ ("table" -> target) :+ ("folder" -> folder): _*)
  }

  def rowHashMismatch(target: String, folder: String, rows: Long): Throwable =
    runtime("ZORDER_VERIFICATION_FAILED.ROW_HASH", null, "table" -> target, "folder" -> folder, "rows" -> rows.toString)

  /** @param reason what reading the new file gave */
  def readBackFailed(target: String, path: String, reason: String, cause: Throwable = null): Throwable =
    runtime("ZORDER_VERIFICATION_FAILED.READ_BACK", cause, "table" -> target, "path" -> path, "reason" -> reason)

  /** @param cause why the new file cannot be read */
  def readBackFailed(target: String, path: String, cause: Throwable): Throwable =
    readBackFailed(target, path, rootMessage(cause), cause)

  def diskFull(operation: String, target: String, reason: String, cause: Throwable): Throwable =
    failed("ZORDER_NOT_ENOUGH_SPACE.DISK_FULL", operation, target, cause, "reason" -> reason)

  def notEnoughSpace(target: String, needed: Long, available: Long, where: String): Throwable = {
    val room = Seq("needed" -> needed.toString, "available" -> available.toString, "where" -> where)
    failed("ZORDER_NOT_ENOUGH_SPACE.EXPECTED", "OPTIMIZE", target, null, room: _*)
  }

  /** The operation failed before it moved a file of the table, or moved all files back. */
  def operationFailed(operation: String, target: String, cause: Throwable): Throwable =
    failed("ZORDER_OPERATION_FAILED.UNCHANGED", operation, target, cause, "reason" -> rootMessage(cause))

  /** @param path of a file that Spark could not read */
  def failedRead(operation: String, target: String, path: String, cause: Throwable): Throwable =
    root(cause) match {
      case _: FileNotFoundException | _: NoSuchFileException => commitConflict(target, Seq(path), "it is gone", cause)
      case _                                                 =>
        val reason = s"the file $path cannot be read (${rootMessage(cause).stripSuffix(".")}). Run the statement " +
          "again. If it fails again, repair the file or move it out of the table"
        failed("ZORDER_OPERATION_FAILED.UNCHANGED", operation, target, cause, "reason" -> reason)
    }

  private def root(cause: Throwable): Throwable = Iterator.iterate(cause)(_.getCause).takeWhile(_ != null).toSeq.last

  private def rootMessage(cause: Throwable): String =
    Option(root(cause).getMessage).getOrElse(root(cause).getClass.getSimpleName).linesIterator.take(1).mkString

  def renameChangesFiles(operation: String, target: String, storage: String): Throwable =
    analysis(
      "ZORDER_UNSUPPORTED_STORAGE.RENAME_CHANGES_FILES",
      "storage" -> storage,
      "operation" -> operation,
      "table" -> target
    )

  def storeLacks(operation: String, target: String, storage: String, what: String): Throwable = analysis(
    "ZORDER_UNSUPPORTED_STORAGE.LACKS_CONDITIONS",
    "operation" -> operation,
    "table" -> target,
    "storage" -> storage,
    "what" -> what
  )

  /**
   * @param days after which a rule of the store aborts an upload
   * @param hours that the operation has run
   */
  def uploadsExpired(operation: String, target: String, days: Int, hours: Long, cause: Throwable): Throwable = {
    val times = Seq("days" -> days.toString, "hours" -> hours.toString)
    failed("ZORDER_OPERATION_FAILED.UPLOADS_EXPIRED", operation, target, cause, times: _*)
  }

  def notAQuery(): Throwable = analysis("ZORDER_NOT_A_QUERY")

  def settingChanged(key: String, before: String, now: String): Throwable =
    runtime("ZORDER_SETTING_CHANGED", null, "setting" -> key, "before" -> before, "now" -> now)

  def fileChanged(file: String): Throwable =
    runtime("ZORDER_FILE_CHANGED", null, "file" -> file)

  def wrongJar(compiledFor: String, running: String): Throwable =
    runtime("ZORDER_WRONG_JAR", null, "minor" -> compiledFor, "running" -> running)
}
