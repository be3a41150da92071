addSbtPlugin("com.simplytyped" % "sbt-antlr4" % "0.8.3")
addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.5")
