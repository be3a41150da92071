package org.sparkzorder.table

import java.nio.file.{Files, Paths}
import java.util.Locale

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.commit.{CompanionFileException, CompanionNames, FileMeta, FileNames, WorkerThreads}
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._

/**
 * An option or setting that makes a table's readers skip files or rows.
 *
 * @param name of the table's option, or of the session's setting
 * @param reason completes the sentence 'the table cannot be rewritten, since ..'
 */
final case class UnsafeOption(name: String, value: String, reason: String)

/**
 * Options of a table with which its readers may not find the files that a rewrite leaves.
 *
 * These are safe, and so allowed. `basePath` and `mergeSchema` decide on columns, and every file stays in its folder.
 * `datetimeRebaseMode` and `int96RebaseMode` depend on the files, see [[LegacyCalendar]]. Encryption has an error of
 * its own. All other keys of Parquet and ORC concern only writing.
 */
object UnsafeOptions {

  private val byTime = "files are chosen by their time, and a rewrite changes it"
  private val skipsFiles =
    "a query that runs at the same time would leave out files that are being exchanged, without an error"
  private val skipsDamage = "its readers leave out damaged files, which a rewrite would lose for good"

  // Spark itself finds Parquet columns by name. Hive follows the option, so it would read other values after a rewrite.
  private val byPosition = "its columns are found by their position, whatever their names"

  private val flags = Map(
    "recursivefilelookup" -> "its files are in folders that are not partitions",
    "ignoremissingfiles" -> skipsFiles,
    "ignorecorruptfiles" -> skipsDamage,
    "orc.skip.corrupt.data" -> skipsDamage,
    "hive.exec.orc.skip.corrupt.data" -> skipsDamage,
    "orc.force.positional.evolution" -> byPosition,
    "parquet.column.index.access" -> byPosition
  )

  private val pathFilter = "mapreduce.input.pathFilter.class"
  private val byFilter = "it chooses files by rules that only its code knows"

  // Since Spark 4.3. Retired files are in the hidden folder _zorder.
  private val showsRetired = "files with hidden names are read as data, and so would be those that a rewrite retires"

  /** Of the session, with the value that is safe. */
  private val ofSession = Seq(
    (pathFilter, "", byFilter),
    ("spark.sql.files.ignoredPathSegmentRegex", "^[._]", showsRetired)
  )

  /**
   * @param options of the table, in any case
   * @param formatName parquet or orc
   * @param hadoop the session's settings of Hadoop
   */
  def first(options: Map[String, String], formatName: String, hadoop: Configuration): Option[UnsafeOption] =
    options.toSeq.sorted.iterator.flatMap { case (key, value) =>
      reason(key.toLowerCase(Locale.ROOT), value, formatName).map(UnsafeOption(key, value, _))
    }.nextOption().orElse(ofSession.collectFirst {
      case (key, safe, reason) if Option(hadoop.get(key)).exists(_ != safe) =>
        UnsafeOption(key, hadoop.get(key), reason)
    })

  private def reason(key: String, value: String, formatName: String): Option[String] = key match {
    // Our files have such names.
    case "pathglobfilter" if value != "*" && value != s"*.$formatName" =>
      Some("files are chosen by their names, and those of a rewrite may not be among them")
    case "ignoredpathsegmentregex" if value != "^[._]" => Some(showsRetired)
    case k if k == pathFilter.toLowerCase(Locale.ROOT) => Some(byFilter)
    case "modifiedbefore" | "modifiedafter"            => Some(byTime)
    case _ if value.trim.equalsIgnoreCase("true")      => flags.get(key)
    case _                                             => None
  }
}

/**
 * An option of the table, or a setting of the session, that makes Spark read old dates by the Julian calendar.
 *
 * @param isInt96 whether it concerns INT96 timestamps, and not dates and other timestamps
 */
final case class LegacyCalendar(name: String, value: String, isInt96: Boolean)

/**
 * The rebase mode `LEGACY`. Spark follows it for files that do not say their calendar. Other readers, and sessions with
 * Spark's defaults, take the days in these files as they are. A rewrite under `LEGACY` would change the days for them.
 */
object LegacyCalendar {

  private val modes = Seq(
    ("datetimeRebaseMode", SQLConf.PARQUET_REBASE_MODE_IN_READ.key, false),
    ("int96RebaseMode", SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key, true)
  )

  /** Those in force. An option of the table wins over the session's setting. */
  def of(options: Map[String, String], conf: SQLConf): Seq[LegacyCalendar] =
    modes.flatMap { case (option, key, int96) =>
      val ofTable = CaseInsensitiveMap(options).get(option).map(LegacyCalendar(option, _, int96))
      Some(ofTable.getOrElse(LegacyCalendar(key, conf.getConfString(key), int96)))
        .filter(_.value.trim.equalsIgnoreCase("LEGACY"))
    }
}

/**
 * Recognizes files of Spark's bucketed tables. Their names end with the number of the bucket:
 * `part-00000-<uuid>_00003.c000.snappy.parquet` belongs to bucket 3. In tables of Hive's format the
 * names begin with it as well.
 *
 * Trino's names have it as `_bucket-00003`, and files of Hive's transactional tables are `bucket_00003`. In tables that
 * it knows to be bucketed, Spark takes any digits after an underscore for the number. In a folder without a table
 * `log_2026.orc` is not a bucket file. Nor is Hive's `000003_0`, since Hive uses such names with and without buckets.
 */
object BucketFiles {

  private val name = {
    val uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    ("(?:\\d+_0_)?part-(?:r-)?\\d{5,}-" + uuid + "_\\d{5,}(?:\\..*)?|.+_bucket-\\d+(?:\\..*)?|bucket_\\d{5,}(?:_\\d+)?").r
  }

  def isOne(fileName: String): Boolean = name.matches(fileName)
}

/** Finds data files that are symbolic links, as DVC, git-annex and caches of models make them. */
object LinkedFiles {

  def of(files: Seq[FileStatus]): Seq[FileStatus] = files.filter(isLink)

  // Hard links do no harm: renaming or deleting one leaves the other names of the file alone.
  private def isLink(file: FileStatus): Boolean = {
    val uri = file.getPath.toUri
    file.isSymlink || (uri.getScheme == "file" && Files.isSymbolicLink(Paths.get(uri.getPath)))
  }
}

/**
 * Parquet's summary file `_metadata` (of dask, fastparquet and old versions of Spark). It lists all data files, and its
 * readers look nowhere else. `_common_metadata` has only a schema, so it does no harm.
 */
object SummaryFiles {

  private val name = "_metadata"

  /**
   * The first such file in a table above the table's folder, or among the hidden entries of its folders.
   *
   * @param hidden of the table's folder and of those that the statement is about
   */
  def first(conf: Configuration, root: Path, hidden: Seq[FileMeta]): Option[Path] =
    hidden.find(m => !m.isDirectory && m.name == name).map(_.path).orElse {
      ForeignFormats.withTablesAbove(root).drop(1).map(new Path(_, name))
        .find(file => PathKinds.isFile(file.getFileSystem(conf), file))
    }
}

/** Refuses to move or delete data files to which others are tied by their names, see [[CompanionNames]]. */
private[sparkzorder] object CompanionFiles {

  /**
   * @param files that would move
   * @param beside hidden entries of their folders
   * @throws org.apache.spark.sql.AnalysisException for the first entry that is tied to a file
   */
  def refuse(table: TableLocation, files: Seq[Path], beside: Seq[FileMeta]): Unit =
    if (beside.exists(m => CompanionNames.mayBe(m.name))) {
      val names = files.groupMap(_.getParent.toUri.getPath)(_.getName).map { case (f, all) => f -> all.toSet }
      translateErrors(table) {
        beside.groupBy(_.path.getParent.toUri.getPath).foreach { case (folder, entries) =>
          CompanionNames.refuse(entries, names.getOrElse(folder, Set.empty[String]), CompanionFileException.Moves)
        }
      }
    }

  def translateErrors[T](table: TableLocation)(work: => T): T =
    try work
    catch { case e: CompanionFileException => throw RecoveryErrors.of(table.name, "OPTIMIZE", e) }
}

/** What is in data folders beside the files that Spark's own listing shows. */
private[sparkzorder] object HiddenEntries {

  private val Threads = 16

  /** One listing of an object store has so many objects. */
  private val PageOfListing = 1000

  /**
   * The files and folders directly in some folders that readers do not take for data. Each folder is listed once. On an
   * object store, one listing of the whole table takes the place of many small ones. It shows no folders.
   *
   * @param count the number of files of the table
   */
  def in(table: TableLocation, folders: Seq[Path], count: Long): Seq[FileMeta] = {
    val below =
      if (count >= PageOfListing / 2 * (folders.size - 1)) None
      else PathKinds.filesBelow(table.fileSystem, table.root)
    val (listed, others) = folders.partition(f => below.isDefined && (f == table.root || table.names.isBelow(f)))
    val wanted = listed.map(_.toUri.getPath).toSet
    val ofStore = for {
      file <- below.toSeq.flatten.sorted
      path = table.fileSystem.makeQualified(new Path(null, null, file))
      if isHidden(path.getName) && wanted(path.getParent.toUri.getPath)
    } yield FileMeta(path, 0, 0, isDirectory = false)
    val conf = table.session.sessionState.newHadoopConf()
    ofStore ++ WorkerThreads.map(others, Threads) { folder =>
      ObjectStores.ops(folder.getFileSystem(conf)).list(folder).filter(m => isHidden(m.name)).sortBy(_.name)
    }.flatten
  }

  private def isHidden(name: String): Boolean = !FileNames.isData(name) || CompanionNames.mayBe(name)
}
