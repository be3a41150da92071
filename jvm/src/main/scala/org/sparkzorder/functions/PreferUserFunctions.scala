package org.sparkzorder.functions

import java.util.Locale

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}
import org.apache.spark.sql.{classic, SparkSession}

/**
 * Prefers a user's function, in the session or in a catalog, to one of our functions with the same name.
 *
 * Spark treats the functions of extensions as built in. It looks in a catalog only for other names, and since 4.2 the
 * same holds for functions of the session. So before Spark resolves names, this rule looks up the names of our
 * functions. If a user has a function of that name, the rule replaces the name by the qualified name of the user's
 * function.
 */
class PreferUserFunctions(session: SparkSession) extends Rule[LogicalPlan] {
  import PreferUserFunctions._

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case name: UnresolvedFunctionName if isOurs(name.multipartIdentifier) =>
      users(name.multipartIdentifier.head).fold(name)(n => name.copy(multipartIdentifier = n))
    case other =>
      other.transformExpressionsUp {
        case f: UnresolvedFunction if isOurs(f.nameParts) => users(f.nameParts.head).fold(f)(n => f.copy(nameParts = n))
      }
  }

  private def state = session.asInstanceOf[classic.SparkSession].sessionState

  /** Whether a name means our function. Before Spark 4.2, a temporary function of the same name replaces ours. */
  private def isOurs(parts: Seq[String]): Boolean = parts match {
    case Seq(name) =>
      ours.get(name.toLowerCase(Locale.ROOT)).exists { implementation =>
        state.catalog.lookupBuiltinOrTempFunction(name).exists(_.getClassName == implementation)
      }
    case _ => false
  }

  private def users(name: String): Option[Seq[String]] = temporary(name).orElse(inCatalog(name))

  /** A temporary function. A view only sees those that it referred to when it was created. */
  private def temporary(name: String): Option[Seq[String]] = {
    val context = AnalysisContext.get
    val isSeen = context.catalogAndNamespace.isEmpty || context.referredTempFunctionNames.contains(name)
    val identifier = FunctionIdentifier(name, Some("session"), Some("system"))
    if (isSeen && state.functionRegistry.functionExists(identifier)) Some(Seq("system", "session", name)) else None
  }

  /** A function of the current database. Inside of a view or a SQL function it is the database of that. */
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

private object PreferUserFunctions {

  private val ours: Map[String, String] =
    FunctionDescriptions.all.map { case (name, info, _) => name.funcName -> info.getClassName }.toMap
}
