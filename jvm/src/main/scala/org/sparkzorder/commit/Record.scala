package org.sparkzorder.commit

/**
 * What one operation does to the table. It is written completely before the operation touches any row.
 *
 * @param version given by [[FolderCommitter.prepare]]; 0 before
 * @param timestamp milliseconds since 1970
 * @param parameters as `DESCRIBE HISTORY` shows them
 * @param layout canonical JSON of the layout, by which an incremental OPTIMIZE knows which files it may leave
 * @param locationChanges what an operation did that moved the table to new folders. Such an operation has no inputs and
 *                        outputs of its own, since no file of the table was moved
 * @param root the table's root when files were exchanged, by which a copy of the table is known
 * @param lost files that RESTORE would have replaced, but that others had deleted. Their rows are in the outputs
 */
final case class Record(
    version: Long,
    operationId: String,
    operation: String,
    timestamp: Long,
    userId: String,
    parameters: Map[String, String],
    metrics: Map[String, String],
    inputs: Seq[InputFile],
    outputs: Seq[OutputFile],
    layout: Option[String] = None,
    way: CommitProtocol = CommitProtocol.InPlace,
    locationChanges: Seq[LocationChange] = Nil,
    root: Option[String] = None,
    lost: Seq[InputFile] = Nil
) {

  /** This record of a part of an operation. Files are counted anew, and what was measured of the whole goes. */
  def ofPart: Record = {
    val moved = locationChanges.map(_.rewritten)
    val (gone, come) = (inputs ++ moved.flatMap(_._1), outputs ++ moved.flatMap(_._2))
    val counts = Map("numRemovedFiles" -> gone, "numAddedFiles" -> come, "numRestoredFiles" -> come)
    val bytes = Map("numRemovedBytes" -> gone, "removedFilesSize" -> gone) ++ Map(
      "numAddedBytes" -> come,
      "restoredFilesSize" -> come
    )
    copy(metrics = (metrics -- Record.OfWhole).map { case (name, value) =>
      val now = counts.get(name).map(_.size.toLong).orElse(bytes.get(name).map(_.map(_.length).sum))
      name -> now.fold(value)(_.toString)
    })
  }

  /** Whether it was an OPTIMIZE of the whole table, whose layout the next one takes. */
  def isOfWholeTable: Boolean = operation == "OPTIMIZE" && parameters.getOrElse("predicate", "").isEmpty
  def brought: Seq[OutputFile] = if (locationChanges.isEmpty) outputs else outputs ++ locationChanges.flatMap(_.outputs)

  /** The work by folder, ordered by folder. */
  lazy val folders: Seq[FolderWork] = {
    val (in, away) = (inputs.groupBy(_.folder), lost.groupBy(_.folder))
    val out = outputs.groupBy(_.folder)
    (in.keySet ++ out.keySet).toSeq.sorted
      .map(f => FolderWork(f, in.getOrElse(f, Nil), out.getOrElse(f, Nil), away.getOrElse(f, Nil)))
  }
}

object Record {

  val PublishMillis = "publishMillis"

  /**
   * A metric: inputs that others replaced between the last look and their delete, one in each line. Their
   * old rows are in the outputs.
   */
  val Replaced = "replacedInputs"

  /**
   * A metric: inputs that were neither in their places nor in the trash when another process ended the operation, one in
   * each line. Others have emptied the trash, or had deleted them before. Their rows are in the outputs.
   */
  val Gone = "goneInputs"

  /** Metrics that say nothing of a part of the operation. */
  private val OfWhole = Seq("rowHash", "tableSizeAfterRestore", "numOfFilesAfterRestore") ++
    Seq("numRenamedFiles", "numLostFiles") ++ Seq("min", "p25", "p50", "p75", "max").map(_ + "FileSize")

  /** The end of the year 9999, the last that Spark shows. */
  private val MaxTime = 253402300799999L

  /** @throws IllegalArgumentException when the record may not be published by an operation */
  private[commit] def check(record: Record, operationId: String): Unit = {
    require(record.operationId == operationId, s"the lock is held by $operationId, not by ${record.operationId}")
    fault(record).foreach(why => throw new IllegalArgumentException(why))
  }

  /** A reason for which no statement may use the record, if there is one. */
  def fault(record: Record): Option[String] = {
    val before = record.inputs ++ record.lost
    val names = before.map(_.path) ++ record.outputs.map(_.path)
    val numbers = before.flatMap(f => Seq(f.length, f.rows)) ++ record.outputs.flatMap(f => Seq(f.length, f.rows))
    val ofChanges =
      record.locationChanges.flatMap(s => s.inputs.map(_.rows) ++ s.outputs.map(_.rows) ++ s.inputs.map(_.length))
    names.find(!isDataName(_)).map(n => s"not a file below the table: '$n'")
      .orElse(record.outputs.find(!isFromTrash(_)).map(o => s"not a file below a side folder: '${o.source.get}'"))
      .orElse(if (names.distinct.length < names.length) Some("a file is named twice") else None)
      .orElse(if ((numbers ++ ofChanges).exists(_ < 0)) Some("a negative size") else None)
      .orElse(if (before.map(_.rows).sum != record.outputs.map(_.rows).sum) Some("rows come or go") else None)
      .orElse(if (record.version < 0 || record.version > SideNames.MaxVersion) Some("a version that is none")
      else None)
      .orElse(if (record.timestamp < 0 || record.timestamp > MaxTime) Some("a time that is none") else None)
      .orElse(if (!isName(record.operationId)) Some(s"not an operation id: '${record.operationId}'") else None)
  }

  private def isName(part: String): Boolean =
    part.nonEmpty && part != "." && part != ".." && !part.exists(c => c == '/' || c < ' ')

  private def isRelative(path: String): Boolean = path.split("/", -1).forall(isName)

  /** Whether it names a file or folder below the root, and outside of side folders. */
  private[commit] def isDataName(path: String): Boolean = isRelative(path) && !path.split('/').contains(SideNames.Side)

  /** Whether a file that RESTORE brings back was in the trash of the folder that it returns to. */
  private def isFromTrash(output: OutputFile): Boolean = output.source.forall { source =>
    val trash = Seq(output.folder, SideNames.Side, SideNames.TrashName).filter(_.nonEmpty).mkString("/")
    isRelative(source) && FileNames.parent(FileNames.parent(source)) == trash &&
    SideNames.trashVersion(FileNames.name(FileNames.parent(source))).isDefined &&
    FileNames.name(source).endsWith(FileNames.RetiredSuffix)
  }
}

/** How an operation exchanges files of the table for others. A record says it in the field `way`. */
sealed abstract class CommitProtocol(val name: String)

object CommitProtocol {

  /** Files are renamed, on a disk or on HDFS, see `docs/design/commit.md`. */
  case object InPlace extends CommitProtocol("in-place")

  /** Uploads are completed and files deleted, see `docs/design/commit.md`. */
  case object ObjectStore extends CommitProtocol("object-store")

  /** The catalog is told of new folders. */
  case object Catalog extends CommitProtocol("catalog")

  val all: Seq[CommitProtocol] = Seq(InPlace, ObjectStore, Catalog)
}

/** How far an operation has come. The suffix of its record's name says it. */
sealed abstract class RecordState(val suffix: String) {

  def isPublished: Boolean = this == RecordState.Done || this == RecordState.Vacuumed

  /** Whether the operation has come to no end yet. If its owner is dead, a recovery ends it. */
  def isUnfinished: Boolean = this == RecordState.Publishing || this == RecordState.Moving
}

object RecordState {

  /** Past the commit point: files are being exchanged. */
  case object Publishing extends RecordState("publishing")

  /**
   * Past the commit point: the catalog may have been told of new folders. Queries read what it names, so they need not
   * wait. A recovery has to ask it, so only statements can recover.
   */
  case object Moving extends RecordState("moving")

  /** Part of the history. */
  case object Done extends RecordState("json")

  /** Part of the history; the retired files are deleted. */
  case object Vacuumed extends RecordState("vacuumed")

  /** The operation left no change. Only listings that were made during its exchange of files may still show one. */
  case object Undone extends RecordState("undone")

  val all: Seq[RecordState] = Seq(Publishing, Moving, Done, Vacuumed, Undone)
}
