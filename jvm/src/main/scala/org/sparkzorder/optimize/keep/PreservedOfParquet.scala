package org.sparkzorder.optimize.keep

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.MessageType
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.footer.parquet.WholeFooter
import org.sparkzorder.footer.traits.{FileTraits, PreservedKeys}
import org.sparkzorder.optimize.Input
import org.sparkzorder.shim.SparkShim.VariantType
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.NullableSchema
import org.sparkzorder.write.encode.MisleadingFilters
import org.sparkzorder.write.preserve.{KnownEncodings, PreservedMetadata, PreservedParquet, PreservedSchema}

private final class PreservedOfParquet(
    table: PlainTable,
    inputs: IndexedSeq[Input],
    traits: IndexedSeq[FileTraits],
    writeConf: Map[String, String]
) {
  private val conf: Configuration = table.session.sessionState.newHadoopConfWithOptions(table.relation.options)
  private val footers = mutable.Map.empty[Int, WholeFooter]
  private def footer(i: Int): WholeFooter = footers.getOrElseUpdate(i, WholeFooter.of(conf, inputs(i).status))

  def result: PreservedFromInputs = {
    val bySchema = traits.groupBy(_.schema).toSeq.map { case (digest, same) =>
      footer(traits.indexWhere(_.schema == digest)).schema -> same
    }
    val schemas = bySchema.map(_._1)
    val schema = Option.when(!hasVariant(table.dataSchema))(PreservedSchema.of(sparkSchema, schemas))
    val same = schema.exists(s => schemas.forall(_.getFields.toString == s.schema.getFields.toString))
    val keys = PreservedKeys.of(traits, (i, key) => footer(i).keyValues(key), same, sameCalendar)
    val kept = PreservedParquet(
      sparkSchema,
      schema.map(_.schema),
      keys.values,
      dictionaries = inDictionaries(bySchema, schema.fold(sparkSchema)(_.schema)),
      encodings = traits.flatMap(_.encodings).toSet
    )
    val (blooms, lostBlooms) = bloomFilters(schema.map(_.schema).getOrElse(sparkSchema))
    val (pages, lostPages) = pageVersion(kept)
    val lostOfSchema = schema.fold(Seq.empty[String])(_.lost)
    PreservedFromInputs(
      files = Some(kept),
      options = pages,
      bloomFilters = blooms,
      lost = lostOfSchema ++ keys.lost ++ lostBlooms ++ lostPages ++ PreservedFromInputs.mixedCodecs(traits)
    )
  }

  /**
   * The leaves that are wholly in dictionaries in all files, by the same path and type as in the new ones. Of a file
   * without the leaf, or with another type, readers do not look for a value in the dictionary.
   */
  private def inDictionaries(bySchema: Seq[(MessageType, Seq[FileTraits])], made: MessageType): Set[Seq[String]] = {
    def typeOf(leaf: ColumnDescriptor) = leaf.getPath.toSeq -> leaf.getPrimitiveType.getPrimitiveTypeName
    val ofEach = bySchema.map { case (schema, files) =>
      schema.getColumns.asScala.zipWithIndex.collect {
        case (leaf, i) if files.forall(_.dictionaries(i)) => typeOf(leaf)
      }.toSet
    }
    ofEach.foldLeft(made.getColumns.asScala.map(typeOf).toSet)(_ & _).map(_._1)
  }

  private lazy val sparkSchema: MessageType = {
    val settings = table.session.sessionState.conf.clone()
    writeConf.foreach { case (key, value) => settings.setConfString(key, value) }
    new SparkToParquetSchemaConverter(settings).convert(NullableSchema.of(table.dataSchema))
  }

  private def bloomFilters(schema: MessageType): (Seq[Seq[String]], Seq[String]) = {
    def fold(path: Seq[String]) = path.map(_.toLowerCase(java.util.Locale.ROOT))
    val leaves = PreservedSchema.leaves(schema, schema)
    val wanted = traits.flatMap(_.bloomFilters).distinct
    def misleads(leaf: Seq[String]) =
      MisleadingFilters.isOf(schema.getColumnDescription(leaf.toArray).getPrimitiveType.getPrimitiveTypeName)
    val (can, cannot) =
      wanted.partition(p => BloomFilters.canBeNamed("parquet", p) && leaves.get(fold(p)).exists(!misleads(_)))
    (can.map(p => leaves(fold(p))).distinct, cannot.map(BloomFilters.lost))
  }

  private def pageVersion(kept: PreservedParquet): (Map[String, String], Seq[String]) = {
    val isCompressed = !writeConf.get(SQLConf.PARQUET_COMPRESSION.key).contains("uncompressed")
    val inAll = traits.filter(_.codecs.nonEmpty).forall(_.encodings.nonEmpty)
    // Some readers know differences in pages of version 1 only, where some writers put them.
    val hadPages = traits.exists(_.hasPagesOfVersion2)
    if (isCompressed && inAll && hadPages && KnownEncodings.canBeVersion2(kept))
      (Map("parquet.writer.version" -> "v2"), Nil)
    else {
      val lost = kept.encodings.map(_._2.name).filter(_.startsWith("DELTA_")).toSeq.sorted.mkString(", ")
      val why = if (isCompressed) "the files lack some of version 2" else "Spark may misread them without compression"
      (Map.empty, Option.when(lost.nonEmpty)(s"encodings $lost ($why)").toSeq)
    }
  }

  private def sameCalendar: Boolean = {
    val settings = table.session.sessionState.conf
    val modes = Seq(
      SQLConf.PARQUET_REBASE_MODE_IN_READ.key,
      SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key,
      SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key,
      SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key
    ).map(settings.getConfString(_))
    val ofTable = table.relation.options.keys.exists(_.toLowerCase(java.util.Locale.ROOT).endsWith("rebasemode"))
    !ofTable && !modes.exists(_.equalsIgnoreCase("LEGACY"))
  }

  /** The writer decides from the rows how to shred a variant, so the schema of the inputs cannot be kept. */
  private def hasVariant(t: DataType): Boolean = t match {
    case s: StructType => s.exists(f => hasVariant(f.dataType))
    case a: ArrayType  => hasVariant(a.elementType)
    case m: MapType    => hasVariant(m.keyType) || hasVariant(m.valueType)
    case VariantType   => true
    case _             => false
  }
}

/**
 * What the new files take over from the inputs beside the rows, such as field ids and key-value metadata. It is the
 * same for all files of a statement. See `docs/what-a-rewrite-keeps.md`.
 *
 * @param files what the writer of each file needs to know; None if nothing is kept
 * @param options options for the file writer; the table's own options override them
 * @param bloomFilters leaf columns that have a Bloom filter in some input, with the new files' spelling of their names
 * @param lost what cannot be kept, in words
 */
private[sparkzorder] final case class PreservedFromInputs(
    files: Option[PreservedMetadata],
    options: Map[String, String],
    bloomFilters: Seq[Seq[String]],
    lost: Seq[String]
) extends Logging {

  /** The same options for the writer, with column names in them spelled as in the new files. */
  def spelled(options: Map[String, String]): Map[String, String] = {
    val columns = files.fold(Map.empty[Seq[String], Seq[String]])(_.columns)
    options.map { case (key, value) =>
      val (prefix, column) = key.span(_ != '#')
      val path = column.drop(1).split('.').toSeq
      columns.get(path.map(_.toLowerCase(java.util.Locale.ROOT))) match {
        case Some(own) if column.nonEmpty => s"$prefix#${own.mkString(".")}" -> value
        case _                            => key -> value
      }
    }
  }

  def namesInAnyCase: Boolean = files.exists(_.namesInAnyCase)

  def warn(table: PlainTable): Unit =
    if (lost.nonEmpty) logWarning(s"OPTIMIZE of ${table.name} does not keep: $text")

  def history: Map[String, String] = if (lost.isEmpty) Map.empty else Map("notKept" -> text)

  private def text: String = {
    val shown = lost.take(PreservedFromInputs.MostShown).mkString("; ")
    if (lost.size > PreservedFromInputs.MostShown) s"$shown; and ${lost.size - PreservedFromInputs.MostShown} more"
    else shown
  }
}

private[sparkzorder] object PreservedFromInputs {

  private val MostShown = 20

  val nothing: PreservedFromInputs = PreservedFromInputs(None, Map.empty, Nil, Nil)

  def mixedCodecs(traits: Seq[FileTraits]): Seq[String] = {
    val codecs = traits.flatMap(_.codecs).distinct.sorted
    if (codecs.size > 1) Seq(codecs.mkString("compression (the files have ", ", ", ")")) else Nil
  }
}
