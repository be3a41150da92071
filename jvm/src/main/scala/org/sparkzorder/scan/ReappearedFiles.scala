package org.sparkzorder.scan

import java.io.IOException
import java.util.concurrent.{ArrayBlockingQueue, RejectedExecutionException, ThreadPoolExecutor, TimeUnit}

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.UnreadableRecordException
import org.sparkzorder.commit.log.{Reappeared, TableState}
import org.sparkzorder.table.RelativePath

/**
 * Warns if a query's listing shows files under names that an operation retired. It does so once for each listing and
 * version of a table, in the background: the query does not wait.
 */
private[scan] object ReappearedFiles extends Logging {

  /** If more listings than this are waiting, the next one is dropped. Later listings are looked at again. */
  private val MostWaiting = 64

  private val IdleSeconds = 10L

  private val pool = {
    val made = new ThreadPoolExecutor(
      1,
      1,
      IdleSeconds,
      TimeUnit.SECONDS,
      new ArrayBlockingQueue[Runnable](MostWaiting),
      new ThreadFactoryBuilder().setDaemon(true).setNameFormat("zorder-reappeared-files").build()
    )
    made.allowCoreThreadTimeOut(true)
    made
  }

  /**
   * @param files of the listing
   * @param state as it was when the listing was found to be whole
   */
  def look(files: => Seq[Path], state: TableState): Unit = state match {
    case side: TableState.SideFolder if side.version > 0 =>
      // Only the paths are taken here. The other thread finds the names below the root.
      val paths = files
      try
        pool.execute(() => {
          val names = new RelativePath(side.folder.root)
          try {
            val found = Reappeared.find(side, paths.map(names.of))
            if (found.nonEmpty) logWarning(s"${side.folder.root}: ${Reappeared.describe(found)}.")
          } catch {
            // The next listing is looked at again.
            case e @ (_: IOException | _: UnreadableRecordException) =>
              logInfo(s"Names that are back in ${side.folder.root} are not looked for: ${e.getMessage}")
          }
        })
      catch { case _: RejectedExecutionException => () }
    case _ => ()
  }
}
