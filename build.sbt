// One source tree, one jar for each Spark minor. The newest is the default for tests and tools.
ThisBuild / organization := "org.sparkzorder"
ThisBuild / versionScheme := Some("semver-spec")
ThisBuild / version := IO.read(file("VERSION")).trim

// The Scala version of each Spark minor.
val scalaOfSpark: Seq[(String, String)] =
  IO.readLines(file("spark-versions.txt")).filterNot(line => line.isEmpty || line.startsWith("#")).map { line =>
    val Array(minor, _, fullScala) = line.split(" +")
    minor -> fullScala
  }
val newest = scalaOfSpark.last._1

// We compile against the jars that pip's pyspark carries, which are the ones that users run: Spark's newest minor is on
// PyPI before it is on Maven Central. `make` puts one pyspark of each minor below build/envs; the newest is .venv itself.
def pysparkJars(base: File, minor: String): Seq[Attributed[File]] = {
  val env = if (minor == newest) base / ".venv" else base / "build" / "envs" / minor
  val jars = (env / "lib" ** "pyspark" / "jars").get.headOption.getOrElse(
    sys.error(s"no pyspark $minor below $env: run `make envs` first"))
  (jars * "*.jar").get.filterNot(_.getName.startsWith("scala-compiler")).map(Attributed.blank)
}

val openForSpark = Seq(
  "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect", "java.base/java.io",
  "java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
  "java.base/sun.nio.cs", "java.base/sun.security.action", "java.base/sun.util.calendar",
  "java.security.jgss/sun.security.krb5"
).flatMap(m => Seq("--add-opens", s"$m=ALL-UNNAMED"))

// `spark-4.2` is for one minor, `spark-4.0-4.2` for all from the first to the last.
def shims(base: File, minor: String): Seq[File] = {
  val place = scalaOfSpark.map(_._1).indexOf(_: String)
  val Folder = """spark-(\d+\.\d+)(?:-(\d+\.\d+))?""".r
  (base / "jvm" / "shims" * DirectoryFilter).get.filter(_.getName match {
    case Folder(first, last) => place(first) <= place(minor) && place(minor) <= place(Option(last).getOrElse(first))
    case _ => false
  })
}

// All Sparks have the same sources. What Scala 2.12 and Java 8 lack, a source imports from our package `compat`. For Spark 3.5
// it hands on scala-collection-compat, which is on the class path there, as spark-core needs it. Newer Sparks lack that jar, so
// a source cannot import it itself; Scala 2.13 has all that it brings.
def isScala212(fullScala: String): Boolean = fullScala.startsWith("2.12.")

// Spark's runtime of ANTLR reads only what this version of the tool writes.
def antlrOf(minor: String): String = if (minor.startsWith("3.")) "4.9.3" else "4.13.1"

// Most clusters of Spark 3 run on Java 8, 11 or 17.
def javaOf(minor: String): Option[String] = if (minor.startsWith("3.")) Some("8") else None

// The client of S3, which Spark's own jars lack. We compile against the oldest that a minor of Spark 4 is used with, and against
// that of Spark 3.5.
def clientsOf(minor: String): Seq[ModuleID] =
  if (minor.startsWith("3."))
    Seq(
      "org.apache.hadoop" % "hadoop-aws" % "3.3.4",
      "com.amazonaws" % "aws-java-sdk-core" % "1.12.262",
      "com.amazonaws" % "aws-java-sdk-s3" % "1.12.262"
    ).map(module => (module % Provided).intransitive())
  else Seq(
    ("org.apache.hadoop" % "hadoop-aws" % "3.4.1" % Provided).intransitive(),
    "software.amazon.awssdk" % "s3" % "2.24.6" % Provided
  )

// What programs in Scala and Java name.
val documented = Set("package.scala", "implicits.scala", "ZOrderSparkExtension.scala")

// What `java @file` takes to run tests without sbt, in build/test-arguments.
val testArguments = taskKey[File]("Compiles the tests, and writes the arguments of java that run them.")

// The project of a Spark minor: spark43.
def projectName(minor: String): String = s"spark${minor.replace(".", "")}"

// Spark's ecosystem names a jar by the versions of Spark and Scala that it is for, and by its own.
def jarName(minor: String, fullScala: String): String =
  s"spark-zorder-${minor}_${CrossVersion.binaryScalaVersion(fullScala)}"

// For the POM. Which Spark it needs is in the name.
val metadata = Seq(
  description := "OPTIMIZE .. ZORDER BY and file skipping for plain Parquet and ORC tables in Spark",
  licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
  organizationName := "The spark-zorder authors",
  startYear := Some(2026)
)

def sparkModule(minor: String, fullScala: String): Project =
  Project(projectName(minor), file(s"jvm/target/spark-$minor"))
    .enablePlugins(Antlr4Plugin)
    .settings(metadata)
    .settings(
      name := jarName(minor, fullScala),
      moduleName := name.value,
      Compile / packageBin / artifactPath :=
        (ThisBuild / baseDirectory).value / "jvm" / "target" / s"${name.value}-${version.value}.jar",
      scalaVersion := fullScala,
      Compile / unmanagedSourceDirectories := {
        val main = (ThisBuild / baseDirectory).value / "jvm" / "src" / "main"
        Seq(main / "scala", main / "java") ++ shims((ThisBuild / baseDirectory).value, minor)
      },
      Compile / sourceGenerators += Def.task {
        val file = (Compile / sourceManaged).value / "SparkMinor.scala"
        IO.write(
          file,
          s"""package org.sparkzorder.shim
             |
             |/** The minor version of Spark that this jar is compiled for. */
             |object SparkMinor {
             |  val compiledFor = "$minor"
             |}
             |""".stripMargin)
        Seq(file)
      },
      Compile / unmanagedResourceDirectories := Seq((ThisBuild / baseDirectory).value / "jvm" / "src" / "main" / "resources"),
      // The programs of benchmarks use helpers of the tests.
      Test / unmanagedSourceDirectories :=
        (if (minor == newest) Seq("jvm/src/test/scala", "bench/jvm").map((ThisBuild / baseDirectory).value / _) else Nil),
      Antlr4 / sourceDirectory := (ThisBuild / baseDirectory).value / "jvm" / "src" / "main" / "antlr4",
      Antlr4 / antlr4Version := antlrOf(minor),
      Antlr4 / antlr4PackageName := Some("org.sparkzorder.parser.antlr"),
      Antlr4 / antlr4GenVisitor := true,
      Antlr4 / antlr4GenListener := false,
      // Everything that we link against is in Spark's own jars: nothing is added to ours.
      Compile / unmanagedJars := pysparkJars((ThisBuild / baseDirectory).value, minor),
      Test / unmanagedJars := (Compile / unmanagedJars).value,
      libraryDependencies := Seq(
        "org.scala-lang" % "scala-library" % fullScala % Provided,
      ) ++ clientsOf(minor) ++ Seq(
        "org.antlr" % "antlr4" % antlrOf(minor) % Antlr4,
        "org.scalatest" %% "scalatest" % "3.2.19" % Test,
        "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
      ),
      // `make check` sets it; while one works, an import too many need not stop anything.
      scalacOptions ++= sys.props.get("fatal.warnings").map(_ => "-Werror").toSeq,
      scalacOptions ++= Seq(
        "-deprecation",
        "-feature",
        "-unchecked",
        "-Wconf:src=src_managed/.*:s"
      ),
      scalacOptions ++= (
        // What 2.12 calls a nullary method that is overridden is a method of Java. It does not see each use of a private object.
        if (isScala212(fullScala))
          Seq("-Xlint:_,-missing-interpolator,-nullary-override,-unused", "-Ywarn-unused:imports,locals")
        else
          Seq(
            "-Xlint:_,-missing-interpolator",
            "-Wunused:imports,privates,locals",
            // Scala 2.13 has these methods itself. The compiler of 2.12 finds the imports that no code needs.
            "-Wconf:cat=unused-imports&origin=org\\.sparkzorder\\.compat\\..*:s"
          )
      ),
      scalacOptions ++= javaOf(minor).toSeq.flatMap(Seq("-release", _)),
      javacOptions ++= javaOf(minor).toSeq.flatMap(Seq("--release", _)),
      // The name has the Scala version already.
      crossPaths := false,
      // `make publish-local REPO=folder`.
      publishTo := sys.props.get("publish.to").map(folder => MavenCache("published", file(folder))),
      // The folder may have an earlier build of this version.
      publishConfiguration := publishConfiguration.value.withOverwrite(true),
      // Spark has all that the jar needs. What builds and tests it is nobody else's business.
      pomPostProcess := { (pom: scala.xml.Node) =>
        val elements = pom.child.filterNot(part => part.label == "dependencies" || part.label == "url")
        val developers = <developers><developer><name>{organizationName.value}</name></developer></developers>
        val home = sys.props.get("publish.url").toSeq.flatMap(address =>
          Seq(<url>{address}</url>, <scm><url>{address}</url><connection>scm:git:{address}</connection></scm>))
        pom.asInstanceOf[scala.xml.Elem].copy(child = elements ++ home :+ developers)
      },
      // `make release` sets it. The documentation has what a program of others uses, which is compiled against the rest.
      Compile / packageDoc / publishArtifact := sys.props.contains("publish.docs"),
      Test / packageDoc / publishArtifact := false,
      Compile / doc / scalacOptions += "-no-link-warnings",
      Compile / doc / sources := (Compile / sources).value.filter(file => documented.contains(file.getName)),
      Compile / doc / dependencyClasspath := (Compile / fullClasspath).value,
      Test / fork := true,
      Test / javaOptions ++= openForSpark ++ Seq("-Xmx3g", "-Dspark.ui.enabled=false", "-Djdk.reflect.useDirectMethodHandle=false"),
      Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD"),
      testArguments := {
        val file = (ThisBuild / baseDirectory).value / "build" / "test-arguments"
        val classes = (Test / classDirectory).value
        val words = (Test / javaOptions).value ++
          Seq("-cp", (Test / fullClasspath).value.files.mkString(java.io.File.pathSeparator)) ++
          Seq("org.scalatest.tools.Runner", "-R", classes.toString, "-C", "org.sparkzorder.SuiteLines")
        // Spaces in a path need quotes.
        IO.writeLines(file, words.map("\"" + _ + "\""))
        file
      }
    )

lazy val sparkModules: CompositeProject = new CompositeProject {
  override val componentProjects: Seq[Project] = scalaOfSpark.map { case (minor, fullScala) => sparkModule(minor, fullScala) }
}

lazy val root = project
  .in(file("."))
  .aggregate(scalaOfSpark.map { case (minor, _) => LocalProject(projectName(minor)): ProjectReference } *)
  .settings(publish / skip := true)
