package org.sparkzorder.optimize.check

import java.nio.file.{Files, Path => JPath}
import java.util.Base64

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector.{BytesColumnVector, LongColumnVector}
import org.apache.orc.{EncryptionAlgorithm, InMemoryKeystore, OrcFile, TypeDescription}
import org.apache.parquet.crypto.keytools.{KmsClient, PropertiesDrivenCryptoFactory}
import org.apache.spark.sql.Row
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.errors.ZOrderAnalysisException
import org.sparkzorder.footer.{DataFormat, Encryption, FooterFixture}

/** A key service for tests, which keeps its keys in plain sight. */
class TestKms extends KmsClient {
  override def initialize(conf: Configuration, id: String, url: String, token: String): Unit = ()
  override def wrapKey(key: Array[Byte], master: String): String = master + ":" + Base64.getEncoder.encodeToString(key)
  override def unwrapKey(wrapped: String, master: String): Array[Byte] =
    Base64.getDecoder.decode(wrapped.stripPrefix(master + ":"))
}

@TestRest
class EncryptionSuite extends AnyFunSuite with FooterFixture with BeforeAndAfterEach {
  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.extensions" -> "org.sparkzorder.ZOrderSparkExtension")

  override protected def beforeEach(): Unit =
    (keys.keySet ++ writing(false).keySet + outside._1 + "parquet.encryption.uniform.key").foreach(spark.conf.unset)

  /** Settings that a reader of encrypted columns needs. */
  private val keys = Map("parquet.crypto.factory.class" -> classOf[PropertiesDrivenCryptoFactory].getName) +
    ("parquet.encryption.kms.client.class" -> classOf[TestKms].getName)

  /** Settings that a writer of encrypted columns needs as well. */
  private def writing(plainFooter: Boolean): Map[String, String] = Map(
    "parquet.encryption.column.keys" -> "k1:secret,s.deep",
    "parquet.encryption.footer.key" -> "k2",
    "parquet.encryption.plaintext.footer" -> plainFooter.toString
  )

  private def set(pairs: Map[String, String]): Unit = pairs.foreach { case (k, v) => spark.conf.set(k, v) }

  private def write(name: String, options: Map[String, String]): String = {
    val path = s"$dir/$name"
    val columns = Seq("id", "'token' || id as secret", "named_struct('deep', id * 1000, 'open', id) as s")
    spark.range(0, 300, 1, 3).selectExpr(columns: _*).write.options(options).parquet(path)
    path
  }

  private def optimized(target: String, files: Int, more: String = ""): String =
    s"OPTIMIZE $target ZORDER BY (id) OPTIONS ('num-files' = '$files'$more)"

  /** The settings as a clause of CREATE TABLE. */
  private def options(pairs: Map[String, String]): String =
    pairs.map { case (k, v) => s"'$k' '$v'" }.mkString("OPTIONS (", ", ", ")")

  private def rows(path: String, where: String = "true"): Set[Row] =
    spark.read.parquet(path).where(where).collect().toSet

  private def indexed(path: String, format: String = "parquet"): Set[String] =
    spark.sql(s"DESCRIBE SKIPPING INDEX ON $format.`$path`").where("status = 'indexed'").collect()
      .map(_.getAs[String]("column")).toSet

  private def kept(path: String, where: String): Long =
    spark.sql(s"EXPLAIN SKIPPING SELECT * FROM parquet.`$path` WHERE $where").head().getAs[Long]("files_kept")

  private def encryptions(path: String): Seq[Encryption] = {
    val schema = spark.read.parquet(path).schema
    dataFiles(path).map(footer(_, DataFormat.Parquet, schema).encryption)
  }

  private def assertEncrypted(path: String, plainFooter: Boolean): Unit = {
    val found = encryptions(path)
    assert(found.forall(e => e.columns == Set(Seq("secret"), Seq("s", "deep")) || e.footer))
    assert(found.nonEmpty && found.forall(_.footer != plainFooter))
  }

  private def names(path: String): Seq[String] = dataFiles(path).map(_.getPath.getName).sorted

  private def assertRefused(statement: String, words: String = ""): Unit = {
    val e = intercept[ZOrderAnalysisException](spark.sql(statement).collect())
    assert(e.getCondition == "ZORDER_UNSAFE_FILES.ENCRYPTED", e)
    assert(e.getMessage.contains(words) && !e.getMessage.contains("token"), e)
  }

  for ((plainFooter, known) <- Seq(true -> Map.empty[String, String], true -> keys, false -> keys))
    test(s"the index has nothing that is encrypted: plain footer $plainFooter, made with keys ${known.nonEmpty}") {
      val path = write(s"indexed_${plainFooter}_${known.nonEmpty}", keys ++ writing(plainFooter))
      set(known)
      spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
      assert(indexed(path) == (if (plainFooter) Set("id", "s.open") else Set.empty))
      val ofId = if (plainFooter) 1 else 3
      assert(kept(path, "id = 5") == ofId)
      set(keys)
      for ((where, files) <- Seq("id = 5" -> ofId, "secret = 'token5'" -> 3, "s.deep = 5000" -> 3))
        assert(kept(path, where) == files && rows(path, where).size == 1, where)
    }

  for (plainFooter <- Seq(true, false))
    test(s"encrypted columns stay encrypted, or OPTIMIZE refuses: plain footer $plainFooter") {
      val path = write(s"rewritten_$plainFooter", keys ++ writing(plainFooter))
      val before = names(path)
      val statement = optimized(s"parquet.`$path`", 4)
      if (plainFooter) assertRefused(statement, "the column `s")
      // A session that can only read them.
      set(keys)
      val all = rows(path)
      assertRefused(statement)
      // A session that encrypts fewer columns.
      set(writing(plainFooter) + ("parquet.encryption.column.keys" -> "k1:secret"))
      if (plainFooter) assertRefused(statement)
      assert(names(path) == before && rows(path) == all)
      set(writing(plainFooter))
      spark.sql(statement).collect()
      assert(names(path) != before && rows(path) == all)
      assertEncrypted(path, plainFooter)
      assert(indexed(path) == (if (plainFooter) Set("id", "s.open") else Set.empty))
      assert(rows(path, "secret = 'token5' AND id = 5").size == 1)
    }

  test("if plain files are encrypted when they are rewritten, the index does not show their values either") {
    val path = write("to_be_encrypted", Map.empty)
    set(keys ++ writing(plainFooter = true))
    spark.sql(s"OPTIMIZE parquet.`$path` ZORDER BY (secret, id) OPTIONS ('num-files' = '4')").collect()
    assert(encryptions(path).forall(_.columns.size == 2) && indexed(path) == Set("id", "s.open"))
  }

  /** Settings that leave the keys of a file beside it. */
  private val outside = "parquet.encryption.key.material.store.internally" -> "false"

  private def everything(path: String): Set[String] =
    Files.walk(JPath.of(path)).iterator.asScala.map(_.toString).filterNot(_.endsWith(".crc")).toSet

  for {
    (kind, of) <- Seq(
      "keys of columns" -> writing(plainFooter = false),
      "a plain footer" -> writing(plainFooter = true),
      "one key" -> Map("parquet.encryption.uniform.key" -> "k3")
    )
  } test(s"files whose keys are in files beside them are not touched: $kind") {
    val path = write(s"outside_${kind.replace(' ', '_')}", keys ++ of + outside)
    set(keys)
    val before = everything(path)
    assert(before.exists(_.contains("_KEY_MATERIAL_FOR_")))
    set(of)
    val byPath = optimized(s"parquet.`$path`", 2)
    Seq(byPath, s"$byPath DRY RUN").foreach(assertRefused(_, "_KEY_MATERIAL_FOR_"))
    withTable("outside", s"LOCATION '$path'")(for (mode <- Seq("", ", 'commit.mode' = 'new-location'"))
      assertRefused(optimized("outside", 2, mode), "_KEY_MATERIAL_FOR_"))
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
    spark.sql(s"VACUUM parquet.`$path` RETAIN 0 HOURS")
    assert(everything(path).filterNot(_.contains("_zorder")) == before && rows(path).size == 300)
  }

  private def withTable(name: String, rest: String)(work: => Unit): Unit = {
    val columns = "id BIGINT, secret STRING, s STRUCT<deep: BIGINT, open: BIGINT>"
    spark.sql(s"CREATE TABLE $name ($columns) USING parquet $rest")
    try work
    finally { spark.sql(s"DROP TABLE $name"); () }
  }

  test("new files would not find keys that Parquet puts beside them, so the setting is refused") {
    val path = write("plain_but_outside", Map.empty)
    val settings = keys ++ writing(plainFooter = true) + outside
    set(settings)
    try assertRefused(optimized(s"parquet.`$path`", 2), "store.internally")
    finally spark.conf.unset(outside._1)
    withTable("plain_but_outside", s"${options(settings)} LOCATION '$path'") {
      assertRefused(optimized("plain_but_outside", 2), "store.internally")
    }
  }

  test("each statement says that a session has no key, and not that the file is damaged") {
    val path = write("no_key", keys ++ writing(plainFooter = false))
    def refused(target: String): Unit =
      Seq(optimized(target, 2), s"CREATE SKIPPING INDEX ON $target", s"DESCRIBE CLUSTERING $target (id)")
        .foreach(assertRefused(_, "no key"))
    refused(s"parquet.`$path`")
    withTable("no_key", s"LOCATION '$path'")(refused("no_key"))
  }

  for (plainFooter <- Seq(true, false))
    test(s"keys in the options of a table open files for all statements, and encrypt: plain footer $plainFooter") {
      val path = write(s"keys_of_table_$plainFooter", keys ++ writing(plainFooter))
      withTable("keys_of_table", s"${options(keys ++ writing(plainFooter))} LOCATION '$path'") {
        def table = spark.table("keys_of_table")
        spark.sql("DESCRIBE CLUSTERING keys_of_table (id)").collect()
        spark.sql(optimized("keys_of_table", 2)).collect()
        assert(table.count() == 300 && table.where("secret = 'token7'").count() == 1)
        spark.sql("RESTORE keys_of_table TO VERSION AS OF 0").collect()
        spark.sql(optimized("keys_of_table", 4, ", 'commit.mode' = 'in-place'")).collect()
        assert(table.count() == 300)
        set(keys)
        assertEncrypted(path, plainFooter)
      }
    }

  test("RESTORE brings a file back that only its own key material opens, and VACUUM keeps it") {
    val path = write("lost_material", keys ++ writing(plainFooter = false))
    val before = names(path)
    set(keys ++ writing(plainFooter = false))
    spark.sql(optimized(s"parquet.`$path`", 2)).collect()
    beforeEach()
    withTable("lost_material", s"LOCATION '$path'") {
      assertRefused("RESTORE lost_material TO VERSION AS OF 0", "no key")
      val material = before.map(n => JPath.of(path, s"_KEY_MATERIAL_FOR_$n.json"))
      material.foreach(m => Files.writeString(m, "{}"))
      assertRefused("VACUUM lost_material RETAIN 0 HOURS", "_KEY_MATERIAL_FOR_")
      spark.sql("RESTORE lost_material TO VERSION AS OF 0").collect()
      assert(names(path) == before)
      material.foreach(Files.delete)
      spark.sql("VACUUM lost_material RETAIN 0 HOURS").collect()
    }
  }

  test("encrypted ORC files are not rewritten, and their encrypted columns are not in the index") {
    val folder = JPath.of(s"$dir/orc")
    Files.createDirectories(folder)
    val schema = TypeDescription.fromString("struct<id:bigint,secret:string>")
    val keystore = new InMemoryKeystore().addKey("k1", EncryptionAlgorithm.AES_CTR_128, Array.fill(16)(1.toByte))
    for (n <- 0 until 3) {
      val options = OrcFile.writerOptions(new Configuration()).setSchema(schema).setKeyProvider(keystore)
        .encrypt("k1:secret").masks("nullify:secret")
      val writer = OrcFile.createWriter(new Path(folder.resolve(s"$n.orc").toString), options)
      val batch = schema.createRowBatch()
      for (i <- 0 until 100) {
        batch.cols(0).asInstanceOf[LongColumnVector].vector(i) = n * 100L + i
        batch.cols(1).asInstanceOf[BytesColumnVector].setVal(i, s"token$i".getBytes)
      }
      batch.size = 100
      writer.addRowBatch(batch)
      writer.close()
    }
    spark.sql(s"CREATE SKIPPING INDEX ON orc.`$folder`")
    assert(indexed(s"$folder", "orc") == Set("id"))
    assertRefused(optimized(s"orc.`$folder`", 2))
    assert(dataFiles(folder.toString).size == 3)
  }
}
