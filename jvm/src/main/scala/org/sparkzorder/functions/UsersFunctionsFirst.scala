package org.sparkzorder.functions

import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  AnalysisContext,
  NoSuchNamespaceException,
  UnresolvedFunction,
  UnresolvedFunctionName
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}

/**
 * A function that a user has made, for the session or in a catalog, goes before one of ours with the same name.
 *
 * Functions of extensions are Spark's own to it: it asks a catalog only for other names, and since 4.2 the session, too. So a name of
 * ours is looked up here first, and is qualified where it is a user's. Before names are resolved.
 */
class UsersFunctionsFirst(session: SparkSession) extends Rule[LogicalPlan] {
  import UsersFunctionsFirst._

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case name: UnresolvedFunctionName if isOurs(name.multipartIdentifier) =>
      users(name.multipartIdentifier.head).fold(name)(n => name.copy(multipartIdentifier = n))
    case other =>
      other.transformExpressionsUp {
        case f: UnresolvedFunction if isOurs(f.nameParts) =>
          users(f.nameParts.head).fold(f)(n => f.copy(nameParts = n))
      }
  }

  private def state = session.asInstanceOf[classic.SparkSession].sessionState

  /** Not where a temporary function has taken the place of ours, as it does before Spark 4.2. */
  private def isOurs(parts: Seq[String]): Boolean = parts match {
    case Seq(name) =>
      ours.get(name.toLowerCase(Locale.ROOT)).exists { implementation =>
        state.catalog.lookupBuiltinOrTempFunction(name).exists(_.getClassName == implementation)
      }
    case _ => false
  }

  private def users(name: String): Option[Seq[String]] = temporary(name).orElse(inCatalog(name))

  /** A view sees those of its own time alone. */
  private def temporary(name: String): Option[Seq[String]] = {
    val context = AnalysisContext.get
    val isSeen = context.catalogAndNamespace.isEmpty || context.referredTempFunctionNames.contains(name)
    val identifier = FunctionIdentifier(name, Some("session"), Some("system"))
    if (isSeen && state.functionRegistry.functionExists(identifier)) Some(Seq("system", "session", name)) else None
  }

  /** That of the current database, or of the database of the view or function whose text this is. */
  private def inCatalog(name: String): Option[Seq[String]] = {
    val manager = state.catalogManager
    val (catalog, namespace) = AnalysisContext.get.catalogAndNamespace match {
      case catalog +: namespace => (manager.catalog(catalog), namespace)
      case _                    => (manager.currentCatalog, manager.currentNamespace.toSeq)
    }
    val exists = catalog match {
      case functions: FunctionCatalog =>
        try functions.functionExists(Identifier.of(namespace.toArray, name))
        catch { case _: NoSuchNamespaceException => false }
      case _ => false
    }
    if (exists) Some((catalog.name +: namespace) :+ name) else None
  }
}

private object UsersFunctionsFirst {

  /** The class of each by its name. */
  private val ours: Map[String, String] =
    FunctionDescriptions.all.map { case (name, info, _) => name.funcName -> info.getClassName }.toMap
}
