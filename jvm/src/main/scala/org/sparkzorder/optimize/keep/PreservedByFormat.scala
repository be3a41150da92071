package org.sparkzorder.optimize.keep

import scala.collection.mutable

import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import org.sparkzorder.footer.orc.WholeOrcFooter
import org.sparkzorder.footer.traits.{FileTraits, PreservedKeys}
import org.sparkzorder.optimize.Input
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.orc.{OrcFileSettings, OrcFloats}
import org.sparkzorder.write.preserve.{PreservedOrc, PreservedOrcSchema}

private[optimize] object PreservedByFormat {

  /** @param writeConf settings for the write, which override those of the session */
  def of(table: PlainTable, inputs: Seq[Input], writeConf: Map[String, String]): PreservedFromInputs = {
    val traits = inputs.flatMap(_.footer.traits).toIndexedSeq
    if (traits.isEmpty || traits.size < inputs.size) PreservedFromInputs.nothing
    else if (table.formatName == "parquet") new PreservedOfParquet(table, inputs.toIndexedSeq, traits, writeConf).result
    else new PreservedOfOrc(table, inputs.toIndexedSeq, traits).result
  }
}

private final class PreservedOfOrc(table: PlainTable, inputs: IndexedSeq[Input], traits: IndexedSeq[FileTraits]) {

  private val conf = table.session.sessionState.newHadoopConf()

  private val footers: Seq[WholeOrcFooter] =
    traits.map(_.schema).distinct.map(d => read(traits.indexWhere(_.schema == d)))

  private def read(i: Int): WholeOrcFooter = WholeOrcFooter.of(conf, inputs(i).status)

  def result: PreservedFromInputs = {
    val schemas = footers.map(_.schema)
    val kept = PreservedOrcSchema.of(table.dataSchema, schemas)
    val texts = new PreservedOfOrc.Texts(i => read(i).keyValues)
    val keys = PreservedKeys.of(traits, texts, sameSchema = schemas.forall(_ == kept.schema), sameCalendar = true)
    val (misleading, blooms) = traits.flatMap(_.bloomFilters).distinct
      .partition(c => isFloat(c, kept.schema +: schemas) || !BloomFilters.canBeNamed("orc", c))
    val batch = table.session.sessionState.conf.orcVectorizedWriterBatchSize
    PreservedFromInputs(
      files = Some(PreservedOrc(OrcFileSettings(kept.schema, proleptic, keys.values, batch), kept.respelled)),
      options = Map.empty,
      bloomFilters = blooms,
      lost = kept.lost ++ calendars ++ keys.lost ++ misleading.map(BloomFilters.lost) ++
        PreservedFromInputs.mixedCodecs(traits)
    )
  }

  /** Whether a column holds floating-point numbers by one of these schemas. */
  private def isFloat(column: Seq[String], schemas: Seq[TypeDescription]): Boolean = schemas.exists { schema =>
    (1 to schema.getMaximumId).map(schema.findSubtype(_)).exists { t =>
      OrcFloats.areIn(t) && t.getFullFieldName.split('.').toSeq == column
    }
  }

  /** Of the files with dates or times: for others it makes no difference. */
  private lazy val isProleptic: Seq[Boolean] =
    footers.filter(f => OrcFloats.has(f.schema, PreservedOfOrc.Times)).map(_.proleptic).distinct

  private def proleptic: Option[Boolean] = if (isProleptic.size == 1) isProleptic.headOption else None

  private def calendars: Seq[String] =
    if (isProleptic.size > 1) Seq("calendar of dates before 1582 (the files differ)") else Nil
}

private object PreservedOfOrc {
  private val Times = Set(Category.DATE, Category.TIMESTAMP, Category.TIMESTAMP_INSTANT)

  /** Reads the key-value metadata of a file when the first text of it is needed, and keeps it. */
  private final class Texts(read: Int => Map[String, String]) extends ((Int, String) => String) {
    private val seen = mutable.Map.empty[Int, Map[String, String]]
    override def apply(file: Int, key: String): String = seen.getOrElseUpdate(file, read(file))(key)
  }
}
