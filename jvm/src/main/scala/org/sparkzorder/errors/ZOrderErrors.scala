package org.sparkzorder.errors

import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException

import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}

/**
 * Makes all our errors, one method for each. Only the exceptions of the commit name their conditions themselves, see
 * [[ofCommit]]. Names of columns come as plain text, and messages quote them.
 */
object ZOrderErrors {

  private type Told = (String, String)

  private def analysis(condition: String, told: Told*): Throwable = new ZOrderAnalysisException(condition, told.toMap)

  private def refused(condition: String, cause: Throwable, told: Told*): Throwable =
    new ZOrderAnalysisException(condition, told.toMap, Some(cause))

  private def runtime(condition: String, cause: Throwable, told: Told*): Throwable =
    new ZOrderRuntimeException(condition, told.toMap, cause)

  private def failed(condition: String, operation: String, target: String, cause: Throwable, more: Told*): Throwable =
    runtime(condition, cause, more :+ ("operation" -> operation) :+ ("table" -> target): _*)

  /**
   * @param told parameters of the condition
   * @param isRefusal whether the statement, or the table, is wrong
   */
  def ofCommit(condition: String, target: String, operation: String, told: Seq[(String, String)], isRefusal: Boolean)(
      cause: Throwable
  ): Throwable = {
    val known = Map("table" -> target, "target" -> target, "operation" -> operation, "reason" -> rootMessage(cause))
    val parameters = ErrorConditions.parametersOf(condition).toSeq.map(name => name -> (known ++ told)(name))
    if (isRefusal) refused(condition, cause, parameters: _*) else runtime(condition, cause, parameters: _*)
  }

  private def list(names: Seq[String]): String = names.map(quoteIdentifier).mkString(", ")

  /** @param known the columns that there are, or the fields of a struct */
  def columnNotFound(column: Seq[String], known: Seq[Seq[String]]): Throwable = analysis(
    "ZORDER_COLUMN_NOT_FOUND",
    "column" -> quoteNameParts(column),
    "columns" -> known.map(quoteNameParts).mkString(", ")
  )

  private def ofColumn(condition: String, column: Seq[String], more: Told*): Throwable =
    analysis(s"ZORDER_INVALID_COLUMN.$condition", more :+ ("column" -> quoteNameParts(column)): _*)

  def duplicateColumn(column: Seq[String]): Throwable = ofColumn("DUPLICATE", column)
  def partitionColumn(column: Seq[String]): Throwable = ofColumn("PARTITION_COLUMN", column)
  def weightInSort(column: Seq[String]): Throwable = ofColumn("WEIGHT_IN_SORT", column)
  def weightInBytesMapping(column: Seq[String]): Throwable = ofColumn("WEIGHT_IN_BYTES_MAPPING", column)
  def invalidWeight(column: Seq[String], weight: String): Throwable = ofColumn("WEIGHT", column, "weight" -> weight)
  def unsupportedColumnType(column: Seq[String], dataType: String): Throwable =
    ofColumn("TYPE", column, "type" -> dataType)
  def valuesNotKept(column: Seq[String], dataType: String): Throwable = ofColumn("VALUES", column, "type" -> dataType)

  def ambiguousColumn(column: Seq[String], tables: Seq[String]): Throwable =
    ofColumn("AMBIGUOUS", column, "tables" -> tables.mkString(", "))

  def excludedColumn(column: Seq[String], property: String): Throwable =
    ofColumn("EXCLUDED", column, "property" -> quoteIdentifier(property))

  private def invalidJoin(condition: String, dimension: Seq[String], more: Told*): Throwable =
    analysis(s"ZORDER_INVALID_JOIN.$condition", more :+ ("dimension" -> quoteNameParts(dimension)): _*)

  def joinWithoutLayout(dimension: Seq[String]): Throwable = invalidJoin("WITHOUT_LAYOUT", dimension)
  def unusedJoin(dimension: Seq[String]): Throwable = invalidJoin("UNUSED", dimension)
  def joinCondition(dimension: Seq[String], reason: String): Throwable =
    invalidJoin("CONDITION", dimension, "reason" -> reason)
  def refusedDimension(dimension: Seq[String], reason: String): Throwable =
    invalidJoin("DIMENSION", dimension, "reason" -> reason)

  def doubledKey(dimension: Seq[String], key: Seq[String], value: String, rows: Long): Throwable =
    invalidJoin("DOUBLED_KEY", dimension, "key" -> quoteNameParts(key), "value" -> value, "rows" -> rows.toString)

  def unreadableDimension(dimension: Seq[String], cause: Throwable): Throwable = {
    val reason = rootMessage(cause).stripSuffix(".")
    refused("ZORDER_INVALID_JOIN.UNREADABLE", cause, "dimension" -> quoteNameParts(dimension), "reason" -> reason)
  }

  private def invalidOption(condition: String, key: String, more: Told*): Throwable =
    analysis(s"ZORDER_INVALID_OPTION.$condition", more :+ ("option" -> key): _*)

  def unknownOption(key: String, known: Seq[String]): Throwable =
    invalidOption("UNKNOWN", key, "options" -> list(known))
  def duplicateOption(key: String): Throwable = invalidOption("DUPLICATE", key)
  def optionOfBytesMapping(key: String): Throwable = invalidOption("BYTES_MAPPING", key)
  def optionOfLayout(key: String): Throwable = invalidOption("WITHOUT_LAYOUT", key)
  def hotRangesWithoutAuto: Throwable = invalidOption("WITHOUT_AUTO", "hot-ranges")
  def invalidOptionValue(key: String, value: String, expected: String): Throwable =
    invalidOption("VALUE", key, "value" -> value, "expected" -> expected)
  def curveOfBytesMapping(curve: String): Throwable =
    invalidOption("MAPPING_OF_CURVE", "mapping", "curve" -> curve.toUpperCase(java.util.Locale.ROOT))

  def invalidProperty(table: String, property: String, value: String, expected: String): Throwable = {
    val told = Seq("property" -> property, "value" -> value, "expected" -> expected)
    analysis("ZORDER_INVALID_PROPERTY", told :+ ("table" -> table): _*)
  }

  def whereOnDataColumn(column: String, partitionColumns: Seq[String]): Throwable = {
    val told = Seq("column" -> quoteIdentifier(column))
    if (partitionColumns.isEmpty) analysis("ZORDER_INVALID_WHERE.WITHOUT_PARTITIONS", told: _*)
    else analysis("ZORDER_INVALID_WHERE.DATA_COLUMN", told :+ ("columns" -> list(partitionColumns)): _*)
  }

  def invalidWhere(predicate: String, reason: String): Throwable =
    analysis("ZORDER_INVALID_WHERE.PREDICATE", "predicate" -> predicate, "reason" -> reason)

  def tableNotFound(target: String): Throwable = analysis("ZORDER_TABLE_NOT_FOUND", "table" -> target)
  def pathNotFound(path: String): Throwable = analysis("ZORDER_PATH_NOT_FOUND", "path" -> path)
  def pathUnreadable(path: String, cause: Throwable): Throwable =
    refused("ZORDER_PATH_UNREADABLE", cause, "path" -> path, "reason" -> rootMessage(cause))

  private def unsupported(condition: String, target: String, more: Told*): Throwable =
    analysis(s"ZORDER_UNSUPPORTED_TARGET.$condition", more :+ ("table" -> target): _*)

  def unsupportedTarget(target: String, kind: String): Throwable = unsupported("KIND", target, "kind" -> kind)
  def emptyTable(target: String): Throwable = unsupported("EMPTY", target)
  def singleFile(target: String): Throwable = unsupported("SINGLE_FILE", target)

  /** @param right the target as the statement should name it */
  def wrongFormat(target: String, path: String, found: String, right: String): Throwable =
    unsupported("WRONG_FORMAT", target, "path" -> path, "found" -> found, "right" -> right)

  def unknownType(target: String, path: String, column: Seq[String], reason: String): Throwable =
    unsupported("UNKNOWN_TYPE", target, "path" -> path, "column" -> quoteNameParts(column), "reason" -> reason)

  def partitionFolder(path: String, table: String, where: String): Throwable =
    unsupported("PARTITION_FOLDER", table, "path" -> path, "where" -> where)

  def otherTableFormat(path: String, format: String, marker: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT", "path" -> path, "format" -> format, "marker" -> marker)

  def mixedFormats(path: String): Throwable =
    analysis("ZORDER_UNSUPPORTED_TARGET.MIXED_FORMATS", "path" -> path, "target" -> s"parquet.${quoteIdentifier(path)}")

  def notDataFile(path: String, format: String, reason: String): Throwable =
    analysis("ZORDER_NOT_A_DATA_FILE", "path" -> path, "format" -> format, "reason" -> reason)

  private def unsafeTable(condition: String, target: String, more: Told*): Throwable =
    analysis(s"ZORDER_UNSAFE_TABLE.$condition", more :+ ("table" -> target): _*)

  def bucketedTable(target: String): Throwable = unsafeTable("BUCKETED", target)
  def bucketFile(target: String, path: String): Throwable = unsafeTable("BUCKET_FILE", target, "path" -> path)
  def summaryFile(target: String, path: String): Throwable = unsafeTable("SUMMARY_FILE", target, "path" -> path)
  def linkedFiles(target: String, first: String, count: Int): Throwable =
    unsafeTable("LINKED_FILES", target, "path" -> first, "count" -> count.toString)
  def unsafeOption(target: String, option: String, value: String, reason: String): Throwable =
    unsafeTable("OPTION", target, "option" -> option, "value" -> value, "reason" -> reason)
  def partitionOutsideTable(partition: String, root: String): Throwable =
    analysis("ZORDER_UNSAFE_TABLE.PARTITION_OUTSIDE", "partition" -> partition, "root" -> root)

  /** @param real the folder that both are; None if the second is inside the first */
  def sharedFolder(target: String, one: String, other: String, real: Option[String]): Throwable = {
    val how = real.fold("the second is a folder inside the first")(r => s"both are the folder $r")
    val hint =
      if (real.isEmpty) "Move the files of the second into the first, or out of it"
      else "Remove the link, or give one of the two another location (dropping one may delete the files of both)"
    unsafeTable("SHARED_FOLDER", target, "one" -> one, "other" -> other, "how" -> how, "hint" -> hint)
  }

  private def unsafeFiles(condition: String, path: String, more: Told*): Throwable =
    analysis(s"ZORDER_UNSAFE_FILES.$condition", more :+ ("path" -> path): _*)

  def missingColumn(target: String, path: String, column: String): Throwable =
    unsafeFiles("MISSING_COLUMN", path, "table" -> target, "column" -> quoteIdentifier(column))

  def nanoseconds(path: String, column: Seq[String], option: String): Throwable =
    unsafeFiles("NANOSECONDS", path, "column" -> quoteNameParts(column), "option" -> option)

  /**
   * @param path of a file that has the column inside
   * @param other a file that lacks it; None if all files have it, and the table's schema does not
   */
  def partitionColumnInFiles(target: String, path: String, column: String, other: Option[String]): Throwable = {
    val (reason, hint) = other match {
      case None =>
        ("the table's schema has it only as the folders' names", "which keeps the column as it is in the files")
      case Some(o) => (s"the file $o does not", "and take with WHERE only partitions whose files agree")
    }
    val told = Seq("reason" -> reason, "hint" -> s"Name the folder by its path, $hint")
    unsafeFiles("PARTITION_COLUMN", path, told :+ ("table" -> target) :+ ("column" -> quoteIdentifier(column)): _*)
  }

  def noWritePermission(path: String, cause: Throwable): Throwable = {
    val reason =
      if (Option(cause.getMessage).exists(_.contains("Read-only file system")))
        "its file system is mounted read-only. Mount it for writing first"
      else "this user has not the right"
    refused("ZORDER_NO_WRITE_PERMISSION", cause, "path" -> path, "reason" -> reason)
  }

  /** @param anySchema whether no schema of the table would help */
  def schemaDrift(file: String, column: String, reason: String, anySchema: Boolean): Throwable = {
    val hint =
      if (anySchema) "Leave the file's partition out with WHERE"
      else "Give the table a schema with the columns and types of its files"
    unsafeFiles("SCHEMA_DRIFT", file, "column" -> column, "reason" -> reason, "hint" -> hint)
  }

  /**
   * @param now the table's location
   * @param partition a folder that an operation on `root` made
   */
  def locationChanged(target: String, now: String, partition: String, root: String): Throwable = {
    val folders = Seq("location" -> now, "partition" -> partition, "root" -> root)
    analysis("ZORDER_TABLE_UNCLEAR.LOCATION_CHANGED", folders :+ ("table" -> target): _*)
  }

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

  private def otherMode(condition: String, target: String, more: Told*): Throwable =
    analysis(s"ZORDER_UNSUPPORTED_COMMIT_MODE.$condition", more :+ ("table" -> target): _*)

  def publishBeside(target: String, folder: String, reason: String): Throwable =
    otherMode("FOLDER_BESIDE", target, "folder" -> folder, "reason" -> reason)

  def publishWay(target: String, now: String, asked: String, how: String): Throwable =
    otherMode("OTHER_MODE", target, "now" -> now, "asked" -> asked, "how" -> how)

  def publishNeedsCatalog(target: String, reason: String): Throwable =
    otherMode("NEEDS_CATALOG", target, "reason" -> reason)
  def publishFolder(target: String, folder: String): Throwable = otherMode("FILES_ELSEWHERE", target, "path" -> folder)
  def sharedLocation(target: String, other: String, location: String, folder: String): Throwable =
    otherMode("SHARED_LOCATION", target, "other" -> other, "location" -> location, "folder" -> folder)
  def publishedByCatalog(path: String): Throwable = analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.PATH", "path" -> path)
  def streamOfCatalogTable(path: String): Throwable = analysis("ZORDER_UNSUPPORTED_COMMIT_MODE.STREAM", "path" -> path)
  def tableMoved(target: String, now: String): Throwable =
    analysis("ZORDER_TABLE_MOVED", "table" -> target, "path" -> now)

  /**
   * @param zone of the writer if it has the clock twice, else of Spark's JVMs
   * @param twice whether the zone has the clock twice, or not at all
   */
  def ambiguousClock(path: String, column: Seq[String], zone: String, twice: Boolean): Throwable = {
    val (reason, start) =
      if (twice) (s"exists twice in $zone, the time zone of the file", zone)
      else (s"does not exist in $zone, the time zone of Spark's JVMs", "UTC")
    unsafeFiles("AMBIGUOUS_CLOCK", path, "column" -> quoteNameParts(column), "reason" -> reason, "zone" -> start)
  }

  /** @param what of the file is encrypted */
  def encryptedFiles(path: String, what: String): Throwable = encrypted(
    s"The file $path is encrypted ($what)",
    "the files written in its place would not be",
    "Give the table, or the session, the same encryption settings as its writer had " +
      "(`parquet.crypto.factory.class` and what belongs to it), or leave these files out. " +
      "Encrypted ORC files are not rewritten"
  )

  def notDecrypted(path: String, reason: String): Throwable = encrypted(
    s"The file $path is encrypted",
    s"this session has no key that opens it (${reason.stripSuffix(".")})",
    "Give the table, or the session, the settings with which it can be read (`parquet.crypto.factory.class` and " +
      "what belongs to it), then run the statement again"
  )

  def keyMaterialOutside(target: String, setting: String): Throwable = encrypted(
    s"The setting `$setting` is false",
    s"Parquet would write key material of new files of $target that is tied to the names they have while they are written",
    "Set it to true for this statement, in the session or in the options of the table"
  )

  private def encrypted(subject: String, reason: String, hint: String): Throwable =
    analysis("ZORDER_UNSAFE_FILES.ENCRYPTED", "subject" -> subject, "reason" -> reason, "hint" -> hint)

  def indexExists(target: String): Throwable = analysis("ZORDER_INDEX_EXISTS", "table" -> target)
  def indexNotFound(target: String): Throwable = analysis("ZORDER_INDEX_NOT_FOUND", "table" -> target)
  def noWorkload(target: String, reason: String): Throwable =
    analysis("ZORDER_NO_WORKLOAD", "table" -> target, "reason" -> reason)
  def tooManyColumns(named: Int, most: Int): Throwable =
    analysis("ZORDER_TOO_MANY_COLUMNS", "given" -> named.toString, "most" -> most.toString)

  private def invalidHint(condition: String, hint: String, more: Told*): Throwable =
    analysis(s"ZORDER_INVALID_HINT.$condition", more :+ ("hint" -> hint): _*)

  def hintPartitions(hint: String, asked: String, most: Int): Throwable =
    invalidHint("PARTITIONS", hint, "given" -> asked, "most" -> most.toString)
  def hintParameter(hint: String, parameter: String, reason: String): Throwable =
    invalidHint("PARAMETER", hint, "parameter" -> parameter, "reason" -> reason)
  def hintWithoutColumns(hint: String): Throwable = invalidHint("WITHOUT_COLUMNS", hint)
  def hintOnStream(hint: String): Throwable = invalidHint("ON_STREAM", hint)
  def noExtension(hint: String): Throwable = invalidHint("NO_EXTENSION", hint)

  def invalidTime(text: String): Throwable = analysis("ZORDER_INVALID_TIME", "time" -> text)

  def timeBeforeHistory(target: String, text: String, oldest: Long): Throwable =
    analysis("ZORDER_VERSION_NOT_FOUND.BEFORE_HISTORY", "table" -> target, "time" -> text, "oldest" -> oldest.toString)

  private def some(paths: Seq[String]): String =
    paths.take(5).mkString(", ") + (if (paths.size > 5) s" and ${paths.size - 5} more" else "")

  def commitConflict(target: String, paths: Seq[String], reason: String, cause: Throwable): Throwable =
    runtime("ZORDER_COMMIT_CONFLICT", cause, "table" -> target, "paths" -> some(paths), "reason" -> reason)

  def recoveryFailed(target: String, cause: Throwable): Throwable =
    runtime("ZORDER_RECOVERY_FAILED", cause, "table" -> target, "reason" -> rootMessage(cause))
  def halfPublished(table: String, seconds: Long): Throwable =
    runtime("ZORDER_HALF_PUBLISHED", null, "table" -> table, "seconds" -> seconds.toString)

  /** @param paths that the query names, or a pattern in it */
  def filesReplaced(paths: Seq[String]): Throwable = runtime("ZORDER_FILES_REPLACED", null, "paths" -> some(paths))

  /** @param paths names of the table's files whose rows the stream has not read yet */
  def streamFilesGone(stream: String, paths: Seq[String]): Throwable =
    runtime("ZORDER_STREAM_FAILED.FILES_GONE", null, "path" -> stream, "paths" -> some(paths))

  /**
   * @param file written by OPTIMIZE
   * @param lost a file that the stream has seen, and that does not exist any more
   */
  def streamUnknownFile(stream: String, file: String, lost: String): Throwable =
    runtime("ZORDER_STREAM_FAILED.UNKNOWN_FILE", null, "path" -> stream, "file" -> file, "lost" -> lost)

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

  def readBackFailed(target: String, path: String, reason: String, cause: Throwable = null): Throwable =
    runtime("ZORDER_VERIFICATION_FAILED.READ_BACK", cause, "table" -> target, "path" -> path, "reason" -> reason)

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

  def renameChangesFiles(operation: String, target: String, storage: String): Throwable = {
    val told = Seq("storage" -> storage, "operation" -> operation, "table" -> target)
    analysis("ZORDER_UNSUPPORTED_STORAGE.RENAME_CHANGES_FILES", told: _*)
  }

  def storeLacks(operation: String, target: String, storage: String, what: String): Throwable = {
    val told = Seq("operation" -> operation, "table" -> target, "storage" -> storage, "what" -> what)
    analysis("ZORDER_UNSUPPORTED_STORAGE.LACKS_CONDITIONS", told: _*)
  }

  def notAQuery(): Throwable = analysis("ZORDER_NOT_A_QUERY")
  def fileChanged(file: String): Throwable = runtime("ZORDER_FILE_CHANGED", null, "file" -> file)
  def settingChanged(key: String, before: String, now: String): Throwable =
    runtime("ZORDER_SETTING_CHANGED", null, "setting" -> key, "before" -> before, "now" -> now)
  def wrongJar(compiledFor: String, running: String): Throwable =
    runtime("ZORDER_WRONG_JAR", null, "minor" -> compiledFor, "running" -> running)
}
