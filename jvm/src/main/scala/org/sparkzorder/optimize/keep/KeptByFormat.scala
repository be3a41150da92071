package org.sparkzorder.optimize.keep

import org.sparkzorder.optimize.Input
import org.sparkzorder.table.PlainTable

/** Finds what the new files of a table take over, by its format. */
private[optimize] object KeptByFormat {

  /** @param writeConf settings for the write, which override those of the session */
  def of(table: PlainTable, inputs: Seq[Input], writeConf: Map[String, String]): KeptFromInputs = {
    val traits = inputs.flatMap(_.footer.traits).toIndexedSeq
    if (traits.isEmpty || traits.size < inputs.size) KeptFromInputs.nothing
    else if (table.formatName == "parquet") new KeptOfParquet(table, inputs.toIndexedSeq, traits, writeConf).result
    else new KeptOfOrc(table, inputs.toIndexedSeq, traits).result
  }
}
