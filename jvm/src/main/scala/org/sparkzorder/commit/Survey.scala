package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * Where the files of a record lie in one folder.
 *
 * @param overwritten its staging is gone: somebody deleted the folder (and may have made it anew), so nothing of the
 * record
 *                    is put there or back
 * @param inPlace what lies under the data files' own names, by relative name
 * @param retired what lies in the trash of the record's operation, by the relative name it had
 * @param staged what waits in staging, by its final relative name
 */
private[commit] final case class FolderSurvey(
    work: FolderWork,
    overwritten: Boolean,
    inPlace: Map[String, FileMeta],
    retired: Map[String, FileMeta],
    staged: Map[String, FileMeta]
) {

  /**
   * Whether the exchange can go on: every input is unchanged in its place or in the trash, and every output is
   * somewhere. None is in both: then somebody wrote a file of its name.
   */
  def canFinish: Boolean = {
    val inputs = work.inputs.forall { input =>
      (inPlace.get(input.path), retired.get(input.path)) match {
        case (Some(meta), None) => input.isSame(meta)
        case (None, Some(meta)) => input.isSame(meta)
        case _                  => false
      }
    }
    inputs && work.outputs.forall { output =>
      val there = inPlace.contains(output.path)
      staged.get(output.path).fold(there)(_.length == output.length && !there)
    }
  }
}

private[commit] final case class Survey(folders: Seq[FolderSurvey]) {
  val kept: Seq[FolderSurvey] = folders.filterNot(_.overwritten)

  /** Whether the way is forward; else what was done is to be undone. */
  def canFinish: Boolean = kept.nonEmpty && kept.forall(_.canFinish)
}

private[commit] object Survey {

  /**
   * For who is going to move files: looks at each file by itself, since a listing may not show yet what we have just
   * moved ourselves.
   */
  def of(folder: TableFolder, record: Record): Survey = Survey(record.folders.map { work =>
    def found(names: Seq[String])(place: String => Path): Map[String, FileMeta] =
      names.flatMap(name => folder.ops.status(place(name)).filterNot(_.isDirectory).map(name -> _)).toMap
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    FolderSurvey(
      work,
      isOverwritten(folder, work.folder, record),
      found(inputs ++ outputs)(folder.resolve),
      found(inputs)(folder.retired(_, record)),
      found(outputs)(folder.staged(_, record.operationId))
    )
  })

  /** For who only reads: by a listing of each folder. */
  def listed(folder: TableFolder, record: Record): Survey = Survey(record.folders.map { work =>
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    val staging = folder.stagingOf(work.folder, record.operationId)
    def found(names: Seq[String], dir: Path)(place: String => Path): Map[String, FileMeta] = {
      val byName = folder.ops.list(dir).filterNot(_.isDirectory).map(m => m.name -> m).toMap
      names.flatMap(name => byName.get(place(name).getName).map(name -> _)).toMap
    }
    FolderSurvey(
      work,
      isOverwritten(folder, work.folder, record),
      found(inputs ++ outputs, folder.resolve(work.folder))(folder.resolve),
      found(inputs, folder.trashOf(work.folder, record))(folder.retired(_, record)),
      found(outputs, staging)(folder.staged(_, record.operationId))
    )
  })

  /** A task that comes late may make its staging anew. The trash is made by nobody but [[Committer]], before the commit point. */
  def isOverwritten(folder: TableFolder, dir: String, record: Record): Boolean =
    !folder.ops.exists(folder.stagingOf(dir, record.operationId)) || !folder.ops.exists(folder.trashOf(dir, record))
}
